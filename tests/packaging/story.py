# SPDX-License-Identifier: LGPL-2.1-or-later
"""A story: cases that happen one after the other in one booted container, reported as TAP.

A chapter is a function of the Machine; what it raises is its failure.  Chapters that follow a failed
one are run all the same, unless it was one that "needed" says all others need.
"""

import contextlib
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'bed'))

import container as bed
import roots


class Skip(Exception):
    """Raised where something cannot be tried here; its text is the reason."""


def expect(condition, text):
    if not condition:
        raise AssertionError(text)


def expect_equal(got, wanted, what):
    if got != wanted:
        raise AssertionError(f'{what}: expected {wanted!r}, got {got!r}')


def eventually(condition, what, timeout=15.0):
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        expect(time.monotonic() < deadline, f'not within {timeout:g} s: {what}')
        time.sleep(0.05)
    return value


class Machine(bed.Container):
    """A container of a root that was made for the purpose.

    prepare(root) is called before it boots: what it writes is gone with the container.
    """

    def __init__(self, lower, prepare=lambda root: None, binds=()):
        super().__init__(lower=lower, binds=binds)
        self.prepare = prepare

    def _prepare_root(self):
        super()._prepare_root()
        self.prepare(self.root)

    def _boot(self):
        # systemd 256 and later refuse the hybrid hierarchy, which Debian 12's nspawn would give them on a machine that
        # has it; Debian 12's own gets what the machine has.
        if 'VERSION_ID="12"' in (self.root / 'usr/lib/os-release').read_text(encoding='utf-8'):
            os.environ.pop('UNIFIED_CGROUP_HIERARCHY', None)
        else:
            os.environ['UNIFIED_CGROUP_HIERARCHY'] = '1'
        super()._boot()

    def do(self, *argv, status=0, user=None, timeout=180, stderr=subprocess.PIPE):
        """Runs a command that must end with a status; returns what it printed."""
        done = self.run(list(argv), user=user, stdout=subprocess.PIPE, stderr=stderr, text=True, timeout=timeout)
        if status is not None and done.returncode != status:
            raise AssertionError(f'{" ".join(argv)}: exit status {done.returncode}\n{done.stdout}{done.stderr or ""}')
        return done.stdout

    def show(self, unit, *properties):
        lines = self.do('systemctl', 'show', '-p', ','.join(properties), '--', unit).splitlines()
        found = dict(line.split('=', 1) for line in lines if '=' in line)
        return [found.get(p, '') for p in properties] if len(properties) > 1 else found.get(properties[0], '')

    def state(self, unit):
        return self.show(unit, 'ActiveState')

    def units(self, pattern):
        lines = self.do('systemctl', 'list-units', '--plain', '--no-legend', '--all', pattern).splitlines()
        return sorted(line.split()[0] for line in lines if line.split()[2] == 'active')

    def write(self, path, content):
        """As root in the container: what else would be no file of root's there."""
        if not isinstance(content, str):
            content = json.dumps(content)
        done = self.run(
            ['sh', '-c', 'mkdir -p "${1%/*}" && printf %s "$2" >"$1"', 'sh', path, content],
            capture_output=True,
            text=True,
        )
        expect_equal(done.returncode, 0, f'writing {path}: {done.stderr}')

    def exists(self, path):
        return self.run(['test', '-e', path]).returncode == 0

    def session(self, server):
        return Session(self, server)


class Session:
    """A client of a server: mcp-connect with pipes, and the handshake done."""

    def __init__(self, machine, server):
        self.lines = queue.Queue()
        self.process = machine.popen(
            ['mcp-connect', server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.number = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.ask(
            'initialize',
            protocolVersion='2025-06-18',
            capabilities={},
            clientInfo={'name': 'tests', 'version': '1'},
        )

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def ask(self, method, **params):
        self.number += 1
        message = {'jsonrpc': '2.0', 'id': self.number, 'method': method, 'params': params}
        self.process.stdin.write(json.dumps(message) + '\n')
        self.process.stdin.flush()
        try:
            line = self.lines.get(timeout=20)
        except queue.Empty:
            raise AssertionError(f'no answer to {method}') from None
        if line is None:
            raise AssertionError(f'the session ended instead of answering {method}: {self.process.stderr.read()}')
        answer = json.loads(line)
        expect_equal(answer.get('id'), self.number, f'id of the answer to {method}')
        return answer['result']

    def call(self, tool, **arguments):
        return self.ask('tools/call', name=tool, arguments=arguments)

    def alive(self):
        return self.process.poll() is None

    def close(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        return self.process.wait(30)


def tell(title, open_machine, chapters):
    """Runs the chapters in one machine.  open_machine() may raise Skip."""
    print(f'1..{len(chapters)}', flush=True)
    failed = 0
    try:
        with open_machine() as machine:
            for number, chapter in enumerate(chapters, 1):
                failed += report(number, title, chapter, lambda c=chapter: c(machine))
            if failed:
                print_journal(machine)
    except (bed.BedError, roots.RootError, Skip) as e:
        skip = f' # SKIP {e}' if isinstance(e, (Skip, roots.NoMirror)) else ''
        for number, chapter in enumerate(chapters, 1):
            print(f'{"ok" if skip else "not ok"} {number} - {name_of(title, chapter)}{skip}')
        for line in () if skip else str(e).splitlines():
            print(f'# {line}')
        failed = 0 if skip else len(chapters)
    return 1 if failed else 0


def name_of(title, chapter):
    return f'{title}: {chapter.__name__.replace("_", " ")}'


def report(number, title, chapter, run):
    wrong, skip = [], ''
    try:
        run()
    except Skip as e:
        skip = f' # SKIP {e}'
    except Exception as e:  # pylint: disable=broad-except
        wrong = str(e).splitlines() + traceback.format_exc().splitlines()[-12:]
    print(f'{"not ok" if wrong else "ok"} {number} - {name_of(title, chapter)}{skip}')
    for line in wrong:
        print(f'# {line}')
    sys.stdout.flush()
    return bool(wrong)


def print_journal(machine):
    with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
        for line in machine.do('journalctl', '-b', '--no-pager', '-n', '60', status=None).splitlines():
            print(f'# {line}')
