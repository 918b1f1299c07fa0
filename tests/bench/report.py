# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measurements as a table for people, and as TAP for the test runner."""


def number(value):
    """Four digits are more than any of these figures is good for."""
    if value != 0 and abs(value) < 0.001:
        return f'{value:.2e}'
    return f'{value:,.0f}' if abs(value) >= 1000 else f'{value:.4g}'


def table(rows):
    """Columns as wide as they have to be; all but the first to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield '  '.join(
            cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()


def series_lines(result):
    rows = [['', 'median', 'p5', 'p95', 'p99', 'MAD', 'n']]
    skipped = []
    for item in result['series']:
        if 'skipped' in item:
            skipped.append(f'{item["name"]}: not measured: {item["skipped"]}')
            continue
        rows.append(
            [item['name'], *(number(item[k]) for k in ('median', 'p5', 'p95', 'p99', 'mad')), str(item['n'])]
        )
    if len(rows) > 1:
        rows[0][0] = result['unit']
        yield from table(rows)
    yield from skipped
    yield from result['notes']


def check_line(check):
    text = f'{check["check"]}'
    if 'value' not in check:
        return f'{text}: {check["reason"]}'
    unit = f' {check["unit"]}' if check['unit'] else ''
    figure = f'{number(check["value"])}{unit} ({number(check["low"])} to {number(check["high"])})'
    return f'{text}: {figure}, {check["reason"]}' if 'reason' in check else f'{text}: {figure}'


def lines(result):
    """One measurement for people."""
    yield f'{result["name"]}: {result["what"]}'
    for line in series_lines(result):
        yield f'    {line}'
    for check in result['checks']:
        yield f'  {check["verdict"]}: {check_line(check)}'
    yield ''


def tap_lines(result):
    """One measurement for the test runner; a case is a check."""
    for line in lines(result):
        yield f'# {line}'.rstrip()
    for check in result['checks']:
        name = f'{result["name"]}: {check["check"]}'.replace('#', '')
        if check['verdict'] == 'skipped':
            yield f'ok - {name} # SKIP {check["reason"]}'
        else:
            yield f'{"not ok" if check["verdict"] == "failed" else "ok"} - {name}'


def summary(results):
    """The project's closing line, and whether it is a good one."""
    verdicts = [check['verdict'] for result in results for check in result['checks']]
    passed, failed, skipped = (verdicts.count(v) for v in ('passed', 'failed', 'skipped'))
    return f'{passed} passed, {failed} failed, {skipped} skipped', passed > 0 and failed == 0
