#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""nono manifests, one by one: what tests/fixtures/manifests.txt says of each, against mcp-sandbox.

  test-manifests.py MCP-SANDBOX SANDBOX-ATTEMPT [MATCH]
"""

import atexit
import concurrent.futures
import ctypes
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / 'tree'))
from cases import case, run  # noqa: E402 pylint: disable=wrong-import-position

SANDBOX, ATTEMPT = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
MATCH = sys.argv[3] if len(sys.argv) > 3 else ''
HERE = max(0, ctypes.CDLL(None).syscall(444, None, 0, 1))  # landlock_create_ruleset(NULL, 0, VERSION)
LETTERS = {'read': 'r', 'write': 'w', 'execute': 'x', 'ioctl': 'i', 'make-device': 'm'}
MARK = '▸'.encode()


# ---- The table ----------------------------------------------------------------------------------------------------


class Manifest:
    """A case of the table."""

    def __init__(self, name):
        self.name = name
        self.text = b''
        self.expected = []

    def said(self, *words):
        """What follows the lines that begin with one of the words, with the word."""
        return [(word, rest) for word, _, rest in (line.partition(' ') for line in self.expected) if word in words]


def table(path):
    found, into = [], None
    for line in path.read_text(encoding='utf-8').split('\n'):
        if line.startswith(':: '):
            into = Manifest(line[3:])
            found.append(into)
        elif line.startswith('=> '):
            into.expected.append(line[3:])
        elif into and into.expected:
            if line and not line.startswith('#'):
                into.expected.append(line)
        elif into:
            into.text += line.encode() + b'\n'
    for m in found:
        m.text = re.sub(rb'<(\d+) (.)>', lambda match: match[2] * int(match[1]), m.text)
    return found


def without_marks(text):
    """The text without its marks, and line and column (of characters) of each."""
    marks, clean = [], b''
    for i, part in enumerate(text.split(MARK)):
        if i:
            before = clean.decode(errors='replace')
            marks.append((before.count('\n') + 1, len(before) - before.rfind('\n')))
        clean += part
    return clean, marks


# ---- The world ----------------------------------------------------------------------------------------------------


class World:
    """The directory that @ stands for."""

    directories = ('dir/sub', 'dir-two', 'di', 'out', 'work/sub', 'tmp/sub', 'tmpx', 'homeX', 'run/' + str(os.getuid()),
                   'home/notes', 'home/.ssh', 'home/.config/systemd/user', 'home/.config/app', 'home/.local/state/app',
                   'home/.cache/app', 'home/.local/share/app', 'with blank', 'Münü-文', 'new\nline\x1b[31m')
    files = ('file', 'dir/file', 'dir/sub/deep', 'out/file', 'work/file', 'home/.bashrc', 'with blank/file',
             'Münü-文/file')
    links = {'link-dir': 'dir', 'link-file': 'file', 'link-none': 'none', 'loop': 'loop', 'loop-a': 'loop-b',
             'loop-b': 'loop-a', 'dir/link-out': '../out', 'link-deep': 'dir/sub',
             'link-units': 'home/.config/systemd/user'}

    def __init__(self, top):
        # Not below /tmp, which the baseline may grant.
        self.top = pathlib.Path(tempfile.mkdtemp(dir=top, prefix='mcp-test-'))
        for name in self.directories:
            (self.top / name).mkdir(parents=True, exist_ok=True)
        for name in self.files:
            (self.top / name).write_text('here\n')
        for name, to in self.links.items():
            (self.top / name).symlink_to(to)
        os.mkfifo(self.top / 'fifo')
        with socket.socket(socket.AF_UNIX) as s:
            s.bind(str(self.top / 'sock'))
        shutil.copy('/bin/true', self.top / 'dir/program')
        shutil.copy(ATTEMPT, self.top / 'work/attempt')

    def fill(self, text):
        return text.replace('%UID%', str(os.getuid())).replace('@', str(self.top))

    def sandbox(self, manifest, *args, env=None):
        path = self.top / 'm.json'
        path.write_bytes(manifest)
        return subprocess.run([SANDBOX, f'--manifest={path}', *args], check=False, capture_output=True, cwd=self.top / 'work',
                              timeout=60, stdin=subprocess.DEVNULL,
                              env={'HOME': str(self.top / 'home'), 'PATH': '/usr/bin:/bin', 'LANG': 'C.UTF-8',
                                   'TMPDIR': str(self.top / 'tmp') + '/',
                                   # The leak checker needs ptrace, which the sandbox refuses.
                                   'ASAN_OPTIONS': 'detect_leaks=0', **(env or {})})


# ---- What is looked at --------------------------------------------------------------------------------------------


def of_machine(problem):
    """Is it about what this machine lacks, and not about the manifest?"""
    return problem['code'] == 'MCP-P-STRICT'


def problems_differ(problems, expected, marks):
    wanted = []
    for i, (level, rest) in enumerate(expected):
        pointer, *words = (part.strip() for part in rest.split(' | '))
        wanted.append((level, pointer, words, marks[i] if marks else None))
    found = list(problems)
    for level, pointer, words, mark in wanted:
        def fits(p):
            text = f'{p["message"]} {p["remedy"] or ""}'
            return (p['level'] == level and p['pointer'] in {'/': (None, ''), '-': (None, '')}.get(pointer, (pointer,))
                    and all(word in text for word in words) and (p['line'], p['column']) == mark)
        match = next((p for p in found if fits(p)), None)
        if match:
            found.remove(match)
        else:
            yield f'not said: {level} {pointer} at {mark} | {" | ".join(words)}'
    for p in found:
        yield f'said: {p["level"]} {p["pointer"]} at {(p["line"], p["column"])} | {p["message"]} | {p["remedy"]}'
    for p in problems:
        text = p['message'] + (p['remedy'] or '')
        if p['level'] == 'error' and not p['remedy']:
            yield f'no remedy: {p["message"]}'


def network_of(plan):
    network = plan['network']
    if network['mode'] != 'ports':
        return network['mode']
    ports = (','.join(map(str, network[f'{way}_ports'])) or '-' for way in ('connect', 'bind'))
    return 'ports connect {} bind {}'.format(*ports)


def plan_differs(plan, m, fill):
    rules = [(''.join(LETTERS[a] for a in rule['access']), rule['resolved'], rule['source'].partition(' ')[2])
             for rule in plan['files']['rules'] if rule['source'].startswith('manifest ')]
    wanted = []
    for _, rest in m.said('rule'):
        access, _, rest = rest.partition(' ')
        path, _, pointer = rest.rpartition(' ')
        path = re.sub(r'\\(n|x..)', lambda match: json.loads(f'"{match[0]}"'.replace('\\x', '\\u00')), path)
        wanted.append((access, fill(path), pointer))
    if rules != wanted:
        yield f'rules {rules}'
        yield f'not   {wanted}'
    for _, rest in m.said('network'):
        if network_of(plan) != rest:
            yield f'network {network_of(plan)}, not {rest}'
    state = {p['id']: p['state'] for p in plan['protections']}
    for word, rest in m.said('wanted', 'unwanted'):
        for name in rest.split():
            if (state[name] == 'not-wanted') == (word == 'wanted'):
                yield f'{name} is {state[name]}'
    for _, rest in m.said('limit'):
        name, _, value = rest.partition(' ')
        if str(plan['limits'][name]) != value:
            yield f'{name} is {plan["limits"][name]}'
    for _, rest in m.said('note'):
        if not any(rest in note for note in plan['notes']):
            yield f'no note says: {rest}'


def inside_differs(world, text, m, args):
    """Runs the attempts in one sandbox, each line with its own exit status."""
    attempts = m.said('can', 'cannot')
    if not attempts or HERE < 6:
        return
    script = ''
    for _, rest in attempts:
        what, argument = re.fullmatch(r'(\S+) ?(.*)', world.fill(rest)).groups()
        argument = {'parent': str(os.getpid()), 'self': '$$'}.get(argument, f"'{argument}'" if argument else '')
        script += f'./attempt {what} {argument}; echo $?\n'
    done = world.sandbox(text, *args, '--', 'sh', '-c', script)
    statuses = done.stdout.decode().split()
    if len(statuses) != len(attempts):
        yield f'exit status {done.returncode}: {done.stderr.decode()}'
    for (word, rest), status in zip(attempts, statuses):
        if status == '200' or (status == '0') != (word == 'can'):
            yield f'{word} {rest}: {os.strerror(int(status))} ({status})'


def differs(m):
    world = World(TOP)
    text, marks = without_marks(world.fill(m.text.decode()).encode())
    args = [world.fill(rest) for _, rest in m.said('args')]
    env = dict(world.fill(rest).split('=', 1) for _, rest in m.said('env'))
    done = world.sandbox(text, *args, '--dry-run', '--json', '--', 'true', env=env)
    try:
        said = json.loads(done.stdout)
    except ValueError:
        yield f'exit status {done.returncode}, no JSON: {done.stdout.decode()}{done.stderr.decode()}'
        return
    problems = [p for p in said['problems'] if not of_machine(p)]
    expected = [(level, world.fill(rest)) for level, rest in m.said('error', 'warning')]
    if not text:
        marks = [(1, 1)]
    if len(marks) != len(expected):
        yield f'{len(marks)} marks for {len(expected)} problems'
        return
    yield from problems_differ(problems, expected, marks)
    refused = any(p['level'] == 'error' for p in problems)
    if refused != (m.expected[0] == 'refused'):
        yield f'{"refused" if refused else "accepted"}, not {m.expected[0]}'
    elif refused:
        if done.returncode not in (2, 3):
            yield f'exit status {done.returncode}'
        if world.sandbox(text, *args, '--', 'true', env=env).returncode not in (2, 3):
            yield 'it runs all the same'
    else:
        yield from plan_differs(said['plan'], m, world.fill)
        yield from inside_differs(world, text, m, args)


def add(m):
    future = POOL.submit(lambda: list(differs(m)))

    def outcome():
        return future.result()

    outcome.__name__ = m.name
    case(outcome)


TOP = tempfile.mkdtemp(dir='/var/tmp', prefix='mcp-manifests-')
atexit.register(shutil.rmtree, TOP, ignore_errors=True)

with concurrent.futures.ThreadPoolExecutor(4) as POOL:
    for manifest in table(TESTS / 'fixtures/manifests.txt'):
        if MATCH in manifest.name:
            add(manifest)
    sys.exit(run())
