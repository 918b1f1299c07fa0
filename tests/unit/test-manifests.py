#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""nono manifests, one by one: what tests/fixtures/manifests says of each, against mcp-sandbox.

  test-manifests.py MCP-SANDBOX SANDBOX-ATTEMPT [MATCH]

The tables were written from what nono 0.74 documents and does, not from our code. In them:

  :: NAME           A case; the manifest follows. @ is the top of the test's directory (World), and ▸ (not part of the
                    manifest) marks where a problem has to be reported, in the order of the problems.
  => accepted       Or refused. Then, in any number and order:
  rule ACCESS PATH POINTER    A rule of the plan, by its resolved path: r read, w write, x execute, i ioctl, m make
                              device. There are no others of the manifest's.
  network MODE [connect PORTS bind PORTS]
  wanted ID..., unwanted ID...    Protections.
  limit NAME VALUE                As the plan says it.
  error POINTER | WORDS...        A problem; the words (between bars) are in its message or remedy. None may be missing,
  warning POINTER | WORDS...      and none more be said. "-": it is about no value, "/": about the whole.
  note WORDS                      One of the plan's notes has these words.
  can WHAT ARGUMENT               Inside, sandbox-attempt can do that, or cannot.
  cannot WHAT ARGUMENT
  abis ABI...                     The same with an older kernel's Landlock: what is missing is named, and nothing claimed.
  args ARGUMENT                   For mcp-sandbox.
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

    directories = ('dir/sub', 'dir-two', 'di', 'out', 'cwd/sub', 'tmp/sub', 'tmpx', 'homeX', 'run/' + str(os.getuid()),
                   'home/notes', 'home/.ssh', 'home/.config/systemd/user', 'home/.config/app', 'home/.local/state/app',
                   'home/.cache/app', 'home/.local/share/app', 'with blank', 'Münü-文', 'new\nline\x1b[31m')
    files = ('file', 'dir/file', 'dir/sub/deep', 'out/file', 'cwd/file', 'home/.bashrc', 'with blank/file',
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
        shutil.copy(ATTEMPT, self.top / 'cwd/attempt')

    def fill(self, text):
        return text.replace('%UID%', str(os.getuid())).replace('@', str(self.top))

    def sandbox(self, manifest, *args, env=None):
        path = self.top / 'm.json'
        path.write_bytes(manifest)
        return subprocess.run([SANDBOX, f'--manifest={path}', *args], check=False, capture_output=True, cwd=self.top / 'cwd',
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
        if p['level'] == 'error' and not p['remedy']:
            yield f'no remedy: {p["message"]}'


def network_of(plan):
    network = plan['network']
    if network['mode'] != 'ports':
        return network['mode']
    ports = (','.join(map(str, network[f'{way}_ports'])) or '-' for way in ('connect', 'bind'))
    return 'ports connect {} bind {}'.format(*ports)


def plan_differs(plan, m, fill):
    rules = [(''.join(LETTERS[a] for a in rule['access']), re.sub('^/proc/[0-9]+', '/proc/PID', rule['resolved']), rule['source'].partition(' ')[2])
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


def text_differs(world, text, args, problems):
    """What people read: places, pointers and codes, and no control character of the manifest's."""
    done = world.sandbox(text, *args, '--dry-run', '--', 'true')
    words = (done.stdout + done.stderr).decode()
    if any(ord(c) < 32 and c != '\n' for c in words):
        yield f'a control character in {words!r}'
    for p in problems:
        place = ''.join(f':{n}' for n in (p['line'], p['column']) if n)
        for part in (f'{p["file"]}{place}: {p["level"]}:\n', f'[{p["code"]}{" at " if p["pointer"] else ""}'):
            if part not in words:
                yield f'not in the text: {part}'


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
    done = world.sandbox(text, *args, '--dry-run', '--json', '--', 'true')
    try:
        said = json.loads(done.stdout)
    except ValueError:
        yield f'exit status {done.returncode}, no JSON: {done.stdout.decode()}{done.stderr.decode()}'
        return
    problems = [p for p in said['problems'] if not of_machine(p)]
    expected = [(level, world.fill(rest)) for level, rest in m.said('error', 'warning')]
    # What has no mark is about no place; an empty text cannot hold one.
    marks = marks + [(None, None) if text else (1, 1)] * (len(expected) - len(marks))
    yield from problems_differ(problems, expected, marks)
    if b'\\' in text or m.expected[0] == 'refused' and len(expected) > 3:
        yield from text_differs(world, text, args, said['problems'])
    refused = any(p['level'] == 'error' for p in problems)
    if refused != (m.expected[0] == 'refused'):
        yield f'{"refused" if refused else "accepted"}, not {m.expected[0]}'
    elif refused:
        if done.returncode not in (2, 3):
            yield f'exit status {done.returncode}'
        if any(p['code'].startswith('MCP-P-') for p in problems) and \
                world.sandbox(text, *args, '--', 'true').returncode not in (2, 3):
            yield 'it runs all the same'
    else:
        yield from plan_differs(said['plan'], m, world.fill)
        yield from inside_differs(world, text, m, args)


# ---- What is too large, or no text, for a table ---------------------------------------------------------------------

GRANT = '{"path": "/usr", "access": "read"}'
RAW = {
    'a byte order mark': (b'\xef\xbb\xbf{"version": "0.1.0"}', 'MCP-M-JSON', (1, 1)),
    'UTF-16': ('{"version": "0.1.0"}'.encode('utf-16-le'), 'MCP-M-JSON', (1, 2)),
    'a byte that is no UTF-8': (b'{"version": "0.1.0", "x": "\xff"}', 'MCP-M-JSON', None),
    'a surrogate in UTF-8': (b'{"version": "0.1.0", "x": "\xed\xa0\x80"}', 'MCP-M-JSON', None),
    'an overlong slash': (b'{"version": "0.1.0", "x": "\xc0\xaf"}', 'MCP-M-JSON', None),
    'a NUL behind the end': (b'{"version": "0.1.0"}\0', 'MCP-M-JSON', (1, 21)),
    'a NUL in a string': (b'{"version": "0.1.0\0"}', 'MCP-M-JSON', None),
    'ten thousand arrays': (b'{"version": "0.1.0", "x": ' + b'[' * 10000 + b']' * 10000 + b'}', 'MCP-M-LIMIT', (1, 58)),
    'ten thousand objects': (b'{"version": "0.1.0", "x": ' + b'{"x":' * 10000 + b'1' + b'}' * 10000 + b'}',
                             'MCP-M-LIMIT', None),
    'twenty thousand grants': (f'{{"version": "0.1.0", "filesystem": {{"grants": [{",".join([GRANT] * 20000)}]}}}}'.encode(),
                               'MCP-M-LIMIT', (1, 47)),
    'a hundred thousand grants': (f'{{"version": "0.1.0", "filesystem": {{"grants": [{",".join([GRANT] * 100000)}]}}}}'
                                  .encode(), 'MCP-M-LIMIT', None),
    'a hundred thousand wrong grants': (b'{"version": "0.1.0", "filesystem": {"grants": [' + b'0,' * 99999 + b'0]}}',
                                        'MCP-M-LIMIT', (1, 47)),
    'a hundred thousand ports': (b'{"version": "0.1.0", "network": {"ports": {"connect": [' + b'1,' * 99999 + b'1]}}}',
                                 'MCP-M-LIMIT', (1, 43)),
    '64 MiB': (b' ' * (64 << 20) + b'{"version": "0.1.0"}', 'MCP-M-LIMIT', None),
}


def raw_differs(text, code, place):
    done = World(TOP).sandbox(text, '--dry-run', '--json', '--', 'true')
    problems = json.loads(done.stdout)['problems']
    if done.returncode != 2:
        yield f'exit status {done.returncode}'
    if len(problems) != 1:
        yield f'{len(problems)} problems'
    for p in problems:
        if p['code'] != code or (place and (p['line'], p['column']) != place) or not p['remedy']:
            yield str(p)


# ---- Every key with every wrong type, and every key nearly ------------------------------------------------------------

# A manifest that has every key once, in the right type. null: "value or null" where nono takes null for absent.
NULLABLE = {'$schema', 'filesystem', 'network', 'process', 'rollback', 'resources', 'ports', 'memory_bytes', 'max_processes',
            'inject', 'env_var', 'path_pattern', 'path_replacement', 'query_param_name'}
RULE = {'method': '*', 'path': '/**'}
WHOLE = {
    'version': '0.1.0', '$schema': 'x',
    'filesystem': {'grants': [{'path': '/usr', 'access': 'read', 'type': 'directory'}], 'deny': [{'path': '/none'}]},
    'network': {'mode': 'blocked', 'allow_domains': ['a'], 'endpoints': [{'host': 'h', 'rules': [RULE]}],
                'ports': {'connect': [1], 'bind': [1], 'localhost': [1], 'localhost_range': [[1, 2]]}, 'dns': True},
    'credentials': [{'name': 'n', 'upstream': 'u', 'source': 'env://X', 'env_var': 'X', 'endpoint_rules': [RULE],
                     'inject': {'mode': 'header', 'header': 'h', 'format': 'f', 'path_pattern': 'p', 'path_replacement': 'r',
                                'query_param_name': 'q'}}],
    'process': {'allowed_commands': ['a'], 'blocked_commands': ['b'], 'signal_mode': 'isolated',
                'process_info_mode': 'isolated', 'ipc_mode': 'full', 'exec_strategy': 'supervised'},
    'rollback': {'enabled': False, 'exclude_patterns': ['a'], 'exclude_globs': ['a']},
    'resources': {'memory_bytes': 1, 'max_processes': 1},
}
WRONG = {'a number': 5, 'a fraction': 1.5, 'a string': 'x', 'true': True, 'an array': [], 'an object': {}, 'null': None}


def is_wrong(value, key, wrong):
    """Is that no value for what holds the value now?"""
    if wrong is None:
        return key not in NULLABLE
    if isinstance(value, str):
        return not isinstance(wrong, str) or key in ('version', 'access', 'type', 'mode', 'signal_mode', 'process_info_mode',
                                                     'ipc_mode', 'exec_strategy')
    if isinstance(value, bool) or isinstance(wrong, bool):
        return type(value) is not type(wrong)
    return type(value) is not type(wrong)


def spoil(value, key, pointer, wrong, depth, pointers):
    """The value with everything at that depth, or above it and without members, made wrong."""
    members = list(value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ())
    if depth == 0 or (not members and depth > 0):
        if not pointer or not is_wrong(value, key, wrong):
            return value
        pointers.add(pointer)
        return wrong
    spoilt = {k: spoil(v, k if isinstance(k, str) else key if key == 'localhost_range' else '', f'{pointer}/{k}', wrong,
                       depth - 1, pointers) for k, v in members}
    return spoilt if isinstance(value, dict) else list(spoilt.values())


def types_differ(wrong, depth):
    pointers = set()
    text = json.dumps(spoil(WHOLE, '', '', wrong, depth, pointers), indent=1)
    done = World(TOP).sandbox(text.encode(), '--dry-run', '--json', '--', 'true')
    said = [p for p in json.loads(done.stdout)['problems'] if p['level'] == 'error']
    lines = text.split('\n')
    if not pointers:
        yield 'nothing is wrong'
    for pointer in sorted(pointers - {p['pointer'] for p in said}):
        yield f'not said of {pointer}'
    for p in said:
        if p['pointer'] in pointers:
            there = lines[p['line'] - 1][p['column'] - 1:].rstrip(',')
            if there != json.dumps(wrong):
                yield f'{p["pointer"]}: {p["line"]}:{p["column"]} is {there}'
            if not p['remedy']:
                yield f'{p["pointer"]}: no remedy: {p["message"]}'
        elif p['code'] in ('MCP-M-TYPE', 'MCP-M-VALUE', 'MCP-M-RANGE', 'MCP-M-INTEGER', 'MCP-M-JSON'):
            yield f'{p["pointer"]}: {p["message"]}'


def nearly(key):
    """The key as people mistype it."""
    yield from (key[:-1], key + key[-1], key[1:], key[0] + key, key.upper(), key.capitalize(), key + 's')
    if len(key) > 3:
        yield from (key[:2] + key[3] + key[2] + key[4:], key[0] + 'q' + key[2:])
    if '_' in key:
        first, *rest = key.split('_')
        yield from (key.replace('_', '-'), key.replace('_', ''), key.replace('_', ' '),
                    first + ''.join(word.capitalize() for word in rest))


def misspell(value, pointer, pointers):
    """The value with every key of its objects written wrong beside the right one."""
    if isinstance(value, list):
        return [misspell(v, f'{pointer}/{i}', pointers) for i, v in enumerate(value)]
    if not isinstance(value, dict):
        return value
    spoilt = {k: misspell(v, f'{pointer}/{k}', pointers) for k, v in value.items()}
    for key in value:
        for near in nearly(key):
            if near not in value:
                spoilt[near] = 1
                pointers[f'{pointer}/{near}'] = near
    return spoilt


def keys_differ(section):
    pointers = {}
    whole = {'version': '0.1.0', section: WHOLE[section]} if section else {**WHOLE, **dict.fromkeys(WHOLE, {})}
    whole = {**misspell(whole, '', {}), 'version': '0.1.0'} if not section else whole
    if section:
        whole[section] = misspell(WHOLE[section], f'/{section}', pointers)
    else:
        pointers = {f'/{near}': near for key in WHOLE for near in nearly(key) if near not in WHOLE}
    # The number of problems that are said is bounded.
    for some in (list(pointers)[i:i + 150] for i in range(0, len(pointers), 150)):
        text = json.dumps(without(whole, '', set(pointers) - set(some)), indent=1)
        done = World(TOP).sandbox(text.encode(), '--dry-run', '--json', '--', 'true')
        said = {p['pointer']: p for p in json.loads(done.stdout)['problems'] if p['level'] == 'error'}
        lines = text.split('\n')
        for pointer in some:
            p = said.get(pointer)
            if not p:
                yield f'{pointer} is passed over'
            elif not lines[p['line'] - 1][p['column'] - 1:].startswith(json.dumps(pointers[pointer]) + ':'):
                yield f'{pointer}: {p["line"]}:{p["column"]} is not the key'
            elif p['code'] not in ('MCP-M-NEAR-MISS', 'MCP-M-UNKNOWN-KEY') or not p['remedy']:
                yield str(p)


def without(value, pointer, pointers):
    if isinstance(value, list):
        return [without(v, f'{pointer}/{i}', pointers) for i, v in enumerate(value)]
    if not isinstance(value, dict):
        return value
    return {k: without(v, f'{pointer}/{k}', pointers) for k, v in value.items() if f'{pointer}/{k}' not in pointers}


# ---- On older kernels -----------------------------------------------------------------------------------------------

# The Landlock ABI that a protection needs. seccomp keeps the network and abstract sockets closed on any.
NEEDS = {'fs-write': 1, 'fs-read': 1, 'fs-refer': 2, 'fs-truncate': 3, 'dev-ioctl': 5, 'tcp-connect': 4, 'tcp-bind': 4,
         'signal': 6}


def abi_differs(m, abi):
    """With an older kernel's Landlock: what is missing is named and refuses, and nothing is said to be there that is not."""
    world = World(TOP)
    text, _ = without_marks(world.fill(m.text.decode()).encode())
    env = {'MCP_TEST_LANDLOCK_ABI': str(abi)}
    done = world.sandbox(text, '--dry-run', '--json', '--', 'true', env=env)
    said = json.loads(done.stdout)
    state = {p['id']: p['state'] for p in said['plan']['protections']}
    needs = {**NEEDS, **dict.fromkeys(('tcp-connect', 'tcp-bind'), 0 if network_of(said['plan']) == 'blocked' else 4)}
    missing = {name for name, need in needs.items() if need > abi and state[name] != 'not-wanted'}
    for p in said['plan']['protections']:
        if 'Landlock' in p['mechanism'] and p['state'] == 'planned' and (
                abi == 0 or 'TCP' in p['mechanism'] and abi < 4 or 'scope' in p['mechanism'] and abi < 6):
            yield f'{p["id"]} is said to be held by {p["mechanism"]}'
    others = {name for name in said['plan']['missing'] if name not in needs}
    if set(said['plan']['missing']) != missing | others:
        yield f'missing: {said["plan"]["missing"]}, not {sorted(missing | others)}'
    refused = {p['message'].split()[2].rstrip(',') for p in said['problems'] if of_machine(p)}
    if refused != missing | others:
        yield f'refused for {sorted(refused)}'
    if said['starts'] != (not refused) or (done.returncode == 0) != (not refused):
        yield f'starts: {said["starts"]}, exit status {done.returncode}, but refused for {sorted(refused)}'
    if said['plan']['files']['confined'] != (abi >= 1):
        yield 'says that files are confined'
    plain = world.sandbox(text, '--dry-run', '--', 'true', env=env)
    words = plain.stdout.decode()
    if refused and ('will be enforced' in words or 'What will hold' in words or 'will be readable' in words):
        yield 'claims what will not be'
    for name in missing | others:
        if not re.search(rf'^{name} +missing ', words, re.M):
            yield f'does not say that {name} is missing'
    ran = world.sandbox(text, '--', 'true', env=env)
    if ran.returncode != (3 if refused else 0):
        yield f'{sorted(refused)}: exit status {ran.returncode} when run'


def add(name, function, *args):
    if MATCH not in name:
        return
    future = POOL.submit(lambda: list(function(*args)))

    def outcome():
        return future.result()

    outcome.__name__ = name
    case(outcome)


def add_all():
    manifests = [m for path in sorted((TESTS / 'fixtures/manifests').iterdir()) for m in table(path)]
    for m in manifests:
        add(m.name, differs, m)
    for name, args in RAW.items():
        add(name, raw_differs, *args)
    for name, wrong in WRONG.items():
        for depth in range(1, 6):
            add(f'{name} in the place of everything at level {depth}', types_differ, wrong, depth)
    for section in ('', 'filesystem', 'network', 'credentials', 'process', 'rollback', 'resources'):
        add(f'near misses in /{section}', keys_differ, section)
    for m in manifests:
        for _, abis in m.said('abis'):
            for abi in map(int, abis.split()):
                if abi <= HERE:
                    add(f'{m.name}, on ABI {abi}', abi_differs, m, abi)


TOP = tempfile.mkdtemp(dir='/var/tmp', prefix='mcp-manifests-')
atexit.register(shutil.rmtree, TOP, ignore_errors=True)

with concurrent.futures.ThreadPoolExecutor(4) as POOL:
    add_all()
    sys.exit(run())
