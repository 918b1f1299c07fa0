# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cases that print TAP: a function with @case is one, and returns (or yields) what is wrong, line by line."""

import traceback

_cases = []


class Skip(Exception):
    """Raised by a case that cannot run here, with the reason."""


def case(function):
    _cases.append(function)
    return function


def run():
    failed = 0
    print(f'1..{len(_cases)}')
    for number, function in enumerate(_cases, 1):
        name, skip = function.__name__.replace('_', ' '), ''
        try:
            wrong = list(function() or ())
        except Skip as e:
            wrong, skip = [], f' # SKIP {e}'
        except Exception:  # pylint: disable=broad-except
            wrong = traceback.format_exc().splitlines()
        print(f'{"not ok" if wrong else "ok"} {number} - {name}{skip}')
        for line in wrong:
            print(f'# {line}')
        failed += bool(wrong)
    return 1 if failed else 0
