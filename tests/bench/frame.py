# SPDX-License-Identifier: LGPL-2.1-or-later
"""The frame of the measurements.

A module bench_NAME.py has WHERE ('machine' or 'container': a booted systemd, as root, with the product installed) and
MEASUREMENTS, a table of Measurement.  Each has a function that is given a Bench and returns Samples: what was read of
us and of each peer, round by round, so that value number i of one series was read beside value number i of another.
The checks compare medians with what was promised: kept where all of the figure's interval is at most the limit, missed where
all of it is above, and otherwise not decided, which is skipped with that reason.  A measurement without a check is shown and
decides nothing.
"""

import dataclasses
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import time

RESAMPLES = 1000
CONFIDENCE = 0.95
SEED = 20260101


class Skip(Exception):
    """Raised where something cannot be measured here; its text is the reason."""


class Failed(Exception):
    """Raised where something that was to be measured did not work; its text says what."""


class Samples:
    """Series of numbers by name, all in the measurement's unit; peers that are not here, with the reason."""

    def __init__(self):
        self.series = {}
        self.skipped = {}
        self.notes = []

    def add(self, name, *values):
        self.series.setdefault(name, []).extend(values)

    def skip(self, name, reason):
        self.skipped[name] = reason

    def note(self, text):
        """A sentence that is shown with the figures."""
        self.notes.append(text)


# -- figures -----------------------------------------------------------------------


def percentile(values, share):
    """The nearest value that share of all are at most."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def describe(values):
    median = statistics.median(values)
    return {
        'median': median,
        'p5': percentile(values, 0.05),
        'p95': percentile(values, 0.95),
        'p99': percentile(values, 0.99),
        'mad': statistics.median(abs(v - median) for v in values),
        'n': len(values),
    }


def interval(figure, *columns):
    """Where a figure of columns lies with CONFIDENCE: rounds are drawn anew, so what was read together stays so."""
    rounds = min(map(len, columns))
    if rounds < 2:
        return (figure(*columns),) * 2
    chance = random.Random(SEED)
    figures = []
    for _ in range(RESAMPLES):
        drawn = chance.choices(range(rounds), k=rounds)
        figures.append(figure(*([column[i] for i in drawn] for column in columns)))
    outside = (1 - CONFIDENCE) / 2
    return percentile(figures, outside), percentile(figures, 1 - outside)


# -- checks ------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Check:
    """A promise about some series: figure(*columns) is at most limit."""

    text: str
    needs: tuple
    limit: float
    figure: object
    unit: str  # of the figure and the limit; empty for ratios

    def judge(self, samples):
        """A dictionary for the report: verdict 'passed', 'failed' or 'skipped'."""
        result = {'check': self.text, 'limit': self.limit, 'unit': self.unit}
        for name in self.needs:
            if name in samples.skipped:
                return {**result, 'verdict': 'skipped', 'reason': samples.skipped[name]}
            if not samples.series.get(name):
                return {**result, 'verdict': 'failed', 'reason': f'nothing was measured of {name}'}
        columns = [samples.series[name] for name in self.needs]
        value = self.figure(*columns)
        low, high = interval(self.figure, *columns)
        result = {**result, 'value': value, 'low': low, 'high': high}
        if high <= self.limit:
            return {**result, 'verdict': 'passed'}
        if low > self.limit:
            return {**result, 'verdict': 'failed'}
        # Neither is known: that is no promise kept, and none broken.
        return {**result, 'verdict': 'skipped', 'reason': f'not decided: {self.limit:g} is within what was measured'}


def ratio(ours, peer, at_most, text=None, share=0.5):
    """Median of ours over median of the peer; another share than a half takes that percentile of both."""

    def figure(a, b):
        return percentile(a, share) / percentile(b, share) if share != 0.5 else medians_ratio(a, b)

    which = '' if share == 0.5 else f'p{share * 100:g} of '
    return Check(text or f'{which}{ours}: at most {at_most:g} × {peer}', (ours, peer), at_most, figure, '')


def medians_ratio(a, b):
    return statistics.median(a) / statistics.median(b)


def paired(ours, peer, at_most):
    """Median of the ratios round by round: what the machine does besides is in both."""

    def figure(a, b):
        return statistics.median(x / y for x, y in zip(a, b))

    return Check(f'{ours}: at most {at_most:g} × {peer}', (ours, peer), at_most, figure, '')


def above(ours, base, at_most, unit, text=None):
    """Median of the differences, round by round."""

    def figure(a, b):
        return statistics.median(x - y for x, y in zip(a, b))

    text = text or f'{ours}: at most {at_most:g} {unit} above {base}'
    return Check(text, (ours, base), at_most, figure, unit)


def absolute(ours, at_most, unit, text=None):
    text = text or f'{ours}: at most {at_most:g} {unit}'
    return Check(text, (ours,), at_most, statistics.median, unit)


@dataclasses.dataclass(frozen=True)
class Measurement:
    name: str
    what: str  # one sentence
    unit: str  # of the series
    function: object  # Bench → Samples
    checks: tuple = ()


# -- what a measurement works with -----------------------------------------------------


class Bench:
    """Where things are, how many rounds are wanted, and how peers take turns."""

    def __init__(self, build=None, quick=False, scratch='/tmp'):
        self.tree = pathlib.Path(__file__).resolve().parents[2]
        self.build = build and pathlib.Path(build)  # None: installed
        self.helpers = (
            self.build / 'tests/bench' if self.build else pathlib.Path(os.environ.get('MCP_BENCH_HELPERS', '.'))
        )
        self.quick = quick
        # Put before a command: what else a busy machine does has to wait, where we may say so.
        asked = subprocess.run(['chrt', '--fifo', '1', 'true'], stderr=subprocess.DEVNULL, check=False)
        self.urgent = ['chrt', '--fifo', '1'] if asked.returncode == 0 else []
        self.scratch = pathlib.Path(scratch)

    def rounds(self, number):
        """As many, or a fifth of it with --quick."""
        return max(3, number // 5) if self.quick else number

    def helper(self, name):
        """A program of tests/bench/*.c."""
        return str(self.helpers / name)

    def program(self, room, name):
        """One of our programs: from the build directory, or as installed."""
        if self.build:
            return str(self.build / room / name)
        found = shutil.which(name)
        if not found:
            raise Failed(f'{name} is not installed')
        return found

    def peer(self, name, package):
        """A peer's program; raises Skip where it is not installed."""
        found = shutil.which(name, path='/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin')
        if not found:
            raise Skip(f'{name} is not installed ({package})')
        return found

    def race(self, samples, racers, rounds, warm_up=3):
        """Calls each racer once a round and keeps what it returns.

        Who begins changes with every round, so that nobody always comes after the same other.
        """
        names = list(racers)
        for number in range(-warm_up, rounds):
            for k in range(len(names)):
                name = names[(number + k) % len(names)]
                value = racers[name]()
                if number >= 0:
                    samples.add(name, value)
        return samples

    def spawn(self, samples, commands, rounds, warm_up=3, cwd='/', chroot=None):
        """Races command lines: milliseconds from fork to the end of each, by a small program that does only this.

        With chroot it is in there, as /usr/local/bin/spawn-race.
        """
        racer = [self.helper('spawn-race')]
        if chroot:
            mount = ['unshare', f'--mount-proc={chroot}/proc', '--']
            racer = [*mount, 'chroot', str(chroot), '/usr/local/bin/spawn-race']
        argv = [*racer, str(rounds), str(warm_up)]
        for command in commands.values():
            argv += ['++', *map(str, command)]
        done = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, cwd=cwd
        )
        if done.returncode != 0:
            raise Failed(f'spawn-race: {done.stderr.strip()}')
        for line in done.stdout.splitlines():
            for name, nanoseconds in zip(commands, line.split()):
                samples.add(name, int(nanoseconds) / 1e6)
        return samples


def elapsed_ms(function):
    """How long one call of function takes."""
    began = time.perf_counter_ns()
    function()
    return (time.perf_counter_ns() - began) / 1e6


def measure(module, measurement, bench):
    """One measurement as a dictionary for the report."""
    result = {'name': f'{module}: {measurement.name}', 'what': measurement.what, 'unit': measurement.unit}
    try:
        samples = measurement.function(bench)
    except Skip as e:
        samples = Samples()
        for check in measurement.checks:
            for name in check.needs:
                samples.skip(name, str(e))
        samples.note(str(e))
    except Exception as e:  # pylint: disable=broad-except
        return {
            **result,
            'series': [],
            'notes': [],
            'checks': [
                {'check': 'it can be measured', 'verdict': 'failed', 'reason': f'{type(e).__name__}: {e}'}
            ],
        }
    return {
        **result,
        'series': [{'name': name, **describe(values)} for name, values in samples.series.items() if values]
        + [{'name': name, 'skipped': reason} for name, reason in samples.skipped.items()],
        'notes': samples.notes,
        'checks': [check.judge(samples) for check in measurement.checks],
    }
