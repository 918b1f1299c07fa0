# SPDX-License-Identifier: LGPL-2.1-or-later
"""The harness of the integration cases: registers them, runs them with a timeout, prints TAP.

A case is a function of one argument, the World that it may break: its manager (system or user), and
servers that are taken away when it ends.  With @case it runs once in each manager.
"""

import os
import signal
import subprocess
import time
import traceback

import client
import world

CASES = []
DEFAULT_TIMEOUT = 30
JOURNAL_LINES = 60


class CaseTimeout(BaseException):
    """Not an Exception, so that a case that catches too much doesn't run for ever."""


class Skip(Exception):
    """Raised by a case that cannot be run here; its text is the reason."""


def case(function=None, *, managers=world.KINDS, timeout=DEFAULT_TIMEOUT):
    """Registers a case, once for each manager."""

    def register(f):
        subject = f.__module__.removeprefix('test_')
        for kind in managers:
            CASES.append((f'{kind} manager: {subject}: {f.__name__.replace("_", " ")}', f, kind, timeout))
        return f

    return register(function) if function else register


def expect(condition, text):
    """An assertion that says what was expected, in words."""
    if not condition:
        raise AssertionError(text)


def expect_equal(got, wanted, what='value'):
    if got != wanted:
        raise AssertionError(f'{what}: expected {wanted!r}, got {got!r}')


def eventually(condition, what, timeout=10.0, every=0.02):
    """Waits for condition() to be true, and returns what it returned."""
    deadline = time.monotonic() + timeout * client.PATIENCE
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f'not within {timeout:g} s: {what() if callable(what) else what}')
        time.sleep(every)
    return value


def _on_alarm(_signum, _frame):
    raise CaseTimeout


def _places(error):
    """The lines of the case that led to an assertion; those of the harness say nothing new."""
    frames = [
        f
        for f in traceback.extract_tb(error.__traceback__)
        if not f.filename.endswith(('harness.py', 'world.py'))
    ]
    return '\n'.join(f'at {os.path.basename(f.filename)}:{f.lineno}: {f.line}' for f in frames)


def _run_case(function, kind, timeout):
    """Returns None, or what went wrong; raises Skip."""
    where = None
    signal.alarm(int(timeout * client.PATIENCE))
    try:
        where = world.World(kind)
        function(where)
        return None
    except Skip:
        raise
    except CaseTimeout:
        return f'timed out after {timeout} s\n{traceback.format_exc(limit=-6)}'
    except AssertionError as e:
        return f'{e}\n{_places(e)}'
    except Exception as e:
        return f'{type(e).__name__}: {e}\n{_places(e)}'
    finally:
        signal.alarm(0)
        if where:
            where.close()


def _journal_cursor():
    done = subprocess.run(['journalctl', '--sync'], check=False, capture_output=True)
    done = subprocess.run(
        ['journalctl', '-n', '0', '--show-cursor', '-q'], check=False, capture_output=True, text=True
    )
    return done.stdout.rpartition('-- cursor: ')[2].strip()


def _journal_since(cursor):
    if not cursor:
        return ''
    done = subprocess.run(
        [
            'journalctl',
            '-q',
            '--no-pager',
            '-o',
            'short-precise',
            '-n',
            str(JOURNAL_LINES),
            f'--after-cursor={cursor}',
        ],
        check=False,
        capture_output=True,
        text=True,
        errors='replace',
    )
    return done.stdout


def _print_trouble(trouble, cursor):
    for line in trouble.rstrip().splitlines():
        print(f'#   {line}')
    print('#   -- journal')
    for line in _journal_since(cursor).splitlines():
        print(f'#   {line}', flush=True)


def run_cases(matches=None, manager=None):
    """Runs those of one manager or both, with one of the matches in their name; returns whether all were well."""
    signal.signal(signal.SIGALRM, _on_alarm)
    cases = [
        c
        for c in CASES
        if (not matches or any(m in c[0] for m in matches)) and (not manager or c[2] == manager)
    ]
    print(f'1..{len(cases)}')
    bad = 0
    for number, (name, function, kind, timeout) in enumerate(cases, 1):
        cursor, began = _journal_cursor(), time.monotonic()
        try:
            trouble = _run_case(function, kind, timeout)
        except Skip as e:
            print(f'ok {number} - {name} # SKIP {e}', flush=True)
            continue
        print(f'{"not " if trouble else ""}ok {number} - {name}')
        print(f'# {time.monotonic() - began:.2f} s', flush=True)
        if trouble:
            bad += 1
            _print_trouble(trouble, cursor)
    return bad == 0
