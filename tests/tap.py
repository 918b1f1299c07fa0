# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads TAP and counts its cases, because meson counts test programs and people want to know cases."""

import dataclasses
import re

_LINE = re.compile(
    r'^(?P<bad>not )?ok\b\s*(?P<number>\d+)?\s*(?:-\s*)?(?P<name>.*?)'
    r'(?:\s*(?<!\\)#\s*(?P<directive>skip|todo)\S*\s*(?P<reason>.*))?$',
    re.IGNORECASE,
)
_PLAN = re.compile(r'^1\.\.(\d+)(?:\s*#\s*skip\S*\s*(.*))?$', re.IGNORECASE)


def is_case(line):
    return bool(_LINE.match(line.rstrip('\r\n')))


@dataclasses.dataclass
class Tally:
    """What one or several test programs did."""

    passed: int = 0
    failed: list = dataclasses.field(default_factory=list)  # names
    skipped: list = dataclasses.field(default_factory=list)  # (name, reason)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        text = f'{self.passed} passed, {len(self.failed)} failed'
        return text + (f', {len(self.skipped)} skipped' if self.skipped else '')


class Collector:
    """Fed a program's lines one by one; finish() says what they add up to."""

    def __init__(self, program):
        self.program = program
        self.tally = Tally()
        self.cases = 0
        self.plan = None
        self.bailed = None

    def feed(self, line):
        line = line.rstrip('\r\n')
        if match := _LINE.match(line):
            self._case(match)
        elif match := _PLAN.match(line):
            self.plan = int(match[1])
            if self.plan == 0:
                self.tally.skipped.append((self.program, match[2] or 'it has no cases'))
        elif line.startswith('Bail out!'):
            self.bailed = line[len('Bail out!') :].strip() or 'bailed out'

    def _case(self, match):
        self.cases += 1
        name = f'{self.program}: {match["name"].strip() or match["number"]}'
        directive = (match['directive'] or '').lower()
        if directive == 'skip':
            self.tally.skipped.append((name, match['reason'] or 'no reason given'))
        elif match['bad'] and directive != 'todo':
            self.tally.failed.append(name)
        else:
            self.tally.passed += 1

    def finish(self, trouble=None):
        """Trouble is how the program ended, where that was not well; a failed case explains it already."""
        if self.bailed:
            self.tally.failed.append(f'{self.program}: {self.bailed}')
        elif trouble and not self.tally.failed:
            self.tally.failed.append(f'{self.program}: {trouble}')
        elif self.plan is None and self.cases == 0:
            self.tally.failed.append(f'{self.program}: it ran no case')
        elif self.plan not in (None, 0) and self.plan != self.cases:
            self.tally.failed.append(f'{self.program}: {self.cases} of {self.plan} planned cases ran')
        return self.tally
