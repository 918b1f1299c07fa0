#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The sum of all tests is only as honest as what reads them."""

import sys

import tap

# What a program prints, how it ended, and what that has to count as: passed, failed, skipped.
CASES = {
    'plain cases': ('ok 1 - a\nok 2 - b\nnot ok 3 - c\n1..3\n', None, (2, 1, 0)),
    'a skip with a reason': ('1..1\nok 1 - a # SKIP no root\n', None, (0, 0, 1)),
    'a hash in a name is no directive': ('ok 1 - issue #7 is fixed\n', None, (1, 0, 0)),
    'todo may fail': ('not ok 1 - later # TODO\n', None, (1, 0, 0)),
    'a whole program skipped': ('1..0 # SKIP no systemd\n', None, (0, 0, 1)),
    'a crash after good cases': ('ok 1 - a\n', 'exit status 139', (1, 1, 0)),
    'a failed case explains the exit status': ('not ok 1 - a\n', 'exit status 1', (0, 1, 0)),
    'fewer cases than planned': ('1..3\nok 1 - a\n', None, (1, 1, 0)),
    'nothing at all': ('', None, (0, 1, 0)),
    'bail out': ('ok 1 - a\nBail out! no memory\n', 'exit status 1', (1, 1, 0)),
    'what is no TAP is not counted': (
        'okay\nnot okay\n# ok 1 - a\n  ok 2 - subtest\nok 1 - a\n',
        None,
        (1, 0, 0),
    ),
}


def main():
    bad = 0
    print(f'1..{len(CASES)}')
    for number, (name, (text, trouble, wanted)) in enumerate(CASES.items(), 1):
        collector = tap.Collector('program')
        for line in text.splitlines():
            collector.feed(line)
        tally = collector.finish(trouble)
        got = (tally.passed, len(tally.failed), len(tally.skipped))
        print(f'{"ok" if got == wanted else "not ok"} {number} - {name}')
        if got != wanted:
            print(f'# expected {wanted}, got {got}')
            bad += 1
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
