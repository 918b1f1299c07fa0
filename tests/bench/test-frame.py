#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""That a measurement can fail, and says of whom it knows nothing."""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / 'tree'), str(pathlib.Path(__file__).resolve().parent)]

import frame
import report
from cases import case, run


def samples(**series):
    result = frame.Samples()
    for name, values in series.items():
        result.add(name, *values)
    return result


def measured(function, *checks):
    return frame.measure('x', frame.Measurement('y', 'something', 'ms', function, checks), frame.Bench())


def verdicts(result):
    return [check['verdict'] for check in result['checks']]


@case
def a_ratio_is_compared_with_its_limit():
    for ours, verdict in (([9, 10, 11], 'passed'), ([16, 17, 18], 'failed'), ([14, 16, 18], 'skipped')):
        got = frame.ratio('ours', 'peer', 1.5).judge(samples(ours=ours, peer=[10, 10, 10]))
        if got['verdict'] != verdict:
            yield f'{ours} against 10: {got}'


@case
def a_difference_is_taken_round_by_round():
    got = frame.above('ours', 'base', 1, 'ms').judge(samples(ours=[2, 102, 12], base=[1, 101, 11]))
    if got['verdict'] != 'passed' or got['value'] != 1:
        yield str(got)


@case
def a_paired_ratio_does_not_see_what_is_in_both():
    noise = [1, 7, 2, 50, 3, 9, 1, 4, 30, 2] * 5
    got = frame.paired('ours', 'peer', 1.02).judge(samples(ours=[1.01 * n for n in noise], peer=noise))
    if got['verdict'] != 'passed':
        yield str(got)
    got = frame.paired('ours', 'peer', 1.02).judge(samples(ours=[1.03 * n for n in noise], peer=noise))
    if got['verdict'] != 'failed':
        yield str(got)


@case
def what_is_not_decided_is_neither_kept_nor_missed():
    got = measured(lambda _bench: samples(ours=[1, 2, 3, 4, 5]), frame.absolute('ours', 3, 'ms'))
    if verdicts(got) != ['skipped'] or 'not decided' not in '\n'.join(report.lines(got)):
        yield str(got)
    if '# SKIP' not in list(report.tap_lines(got))[-1] or report.summary([got]) != ('0 passed, 0 failed, 1 skipped', False):
        yield str(report.summary([got]))


@case
def a_percentile_can_be_compared():
    check = frame.ratio('ours', 'peer', 2, share=0.95)
    slow = [1] * 80 + [50] * 20
    if check.judge(samples(ours=slow, peer=[1] * 100))['verdict'] != 'failed':
        yield 'a slow tail was not seen'


@case
def an_interval_holds_its_figure():
    values = [1, 2, 3, 4, 100]
    low, high = frame.interval(lambda column: sum(column) / len(column), values)
    if not low < 22 < high:
        yield f'{low} to {high}'


@case
def what_is_not_here_is_skipped_with_the_reason():
    def function(_bench):
        result = samples(ours=[1, 1, 1])
        result.skip('peer', 'it is not installed')
        return result

    got = measured(function, frame.ratio('ours', 'peer', 1))
    if verdicts(got) != ['skipped'] or 'it is not installed' not in '\n'.join(report.lines(got)):
        yield str(got)


@case
def what_gave_no_figure_fails():
    got = measured(lambda _bench: samples(ours=[1]), frame.ratio('ours', 'peer', 1))
    if verdicts(got) != ['failed']:
        yield str(got)


@case
def what_cannot_be_measured_fails():
    def function(_bench):
        raise frame.Failed('it broke')

    got = measured(function, frame.absolute('ours', 1, 'ms'))
    if verdicts(got) != ['failed'] or report.summary([got]) != ('0 passed, 1 failed, 0 skipped', False):
        yield str(got)


@case
def the_test_runner_sees_every_check():
    got = measured(lambda _bench: samples(ours=[3]), frame.absolute('ours', 1, 'ms'), frame.absolute('ours', 5, 'ms'))
    marks = [line.split(' - ')[0] for line in report.tap_lines(got) if not line.startswith('#')]
    if marks != ['not ok', 'ok']:
        yield str(marks)


@case
def peers_take_turns():
    order = []
    frame.Bench().race(frame.Samples(), {n: lambda n=n: order.append(n) or 1 for n in 'ab'}, rounds=2, warm_up=0)
    if ''.join(order) != 'abba':
        yield str(order)


if __name__ == '__main__':
    sys.exit(run())
