#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""mcpctl on a made-up tree, without any manager: what it says, and with which exit status.

  test-mcpctl.py MCPCTL SOURCE-DIR
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tree'))
import shapes  # pylint: disable=wrong-import-position
from cases import Skip, case, run  # pylint: disable=wrong-import-position

MCPCTL, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
TEMPORARY = tempfile.TemporaryDirectory(prefix='mcpctl-')
ROOT = pathlib.Path(TEMPORARY.name)
# The sanitizers of a build may need to be told something.
KEPT = ('PATH', 'LD_LIBRARY_PATH', 'ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS')
ENV = {'HOME': '/home/nobody', 'LC_ALL': 'C', **{k: os.environ[k] for k in KEPT if k in os.environ}}
# System definitions have to be root's; whoever is not tries the same as a user.
SYSTEM = os.geteuid() == 0
SCOPE = '--system' if SYSTEM else '--user'
STRONG, WEAK = ('etc/mcp/servers.d', 'run/mcp/servers.d') if SYSTEM else ('home/nobody/.config/mcp/servers.d', 'etc/mcp/user-servers.d')
SECRETS = ('s3cret-argument', 's3cret-value')


def define(name, value, where=STRONG):
    path = ROOT / where / f'{name}.json'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    path.chmod(0o644)
    return path


GOOD = {'command': '/bin/cat', 'args': ['--token', SECRETS[0]], 'env': {'API_KEY': SECRETS[1]},
        'isolation': {'write': ['/tmp']}}


def fill():
    define('good', GOOD)
    define('bad', '{\n  "command": 7,\n  "isolation": {"wirte": []}\n}\n')
    define('gone', '')
    define('shadowed', GOOD)
    define('shadowed', {'command': '/bin/false'}, WEAK)
    define('off', {**GOOD, 'enabled': False})
    define('docker', {'command': '/bin/cat', 'isolation': {'mode': 'docker'}})
    define('house', {'command': '/bin/cat', 'isolation': {'write': ['/etc/systemd/system']}})


def ctl(*args, root=True, env=None):
    command = [MCPCTL, SCOPE, *([f'--root={ROOT}'] if root else []), *args]
    return subprocess.run(command, env={**ENV, **(env or {})}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60, check=False)


def fresh(*args, root, env=None):
    """A run on a tree of its own, which may be changed."""
    return subprocess.run([MCPCTL, SCOPE, f'--root={root}', *args], env={**ENV, **(env or {})}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60, check=False)


def wrong(done, status, *words, stream=None):
    """What does not hold of a run: its exit status, the words it has to say."""
    said = done.stdout + done.stderr if stream is None else getattr(done, stream)
    tail = said[-1000:]
    if done.returncode != status:
        yield f'{done.args[2:]}: exit status {done.returncode}, not {status}: {tail}'
    yield from (f'{done.args[2:]}: does not say {w!r}: {tail}' for w in words if w not in said)


@case
def list_has_a_line_for_every_server():
    done = ctl('list')
    yield from wrong(done, 0)
    rows = {line.split()[0]: line for line in done.stdout.splitlines()}
    states = {'good': 'unknown', 'bad': 'wrong', 'gone': 'masked', 'off': 'disabled', 'shadowed': 'unknown'}
    for name, state in states.items():
        if state not in rows.get(name, ''):
            yield f'{name} is not {state}: {done.stdout}'
    if 'is hidden by' not in done.stderr:
        yield f'the shadowed file is not told: {done.stderr}'
    if len(rows) != 8:
        yield f'other lines than those of the servers: {done.stdout}'


@case
def list_is_what_no_verb_means():
    if ctl().stdout != ctl('list').stdout:
        yield 'it is something else'


@case
def list_as_json():
    done = ctl('list', '--json')
    yield from wrong(done, 0)
    answer = json.loads(done.stdout)
    servers = {s['name']: s for s in answer['servers']}
    if set(answer) != {'scope', 'manager_reached', 'servers', 'problems'} or answer['manager_reached'] is not False:
        yield f'members: {done.stdout}'
    if servers['good']['isolation']['mode'] != 'sandbox' or servers['good']['isolation']['source'] != 'default':
        yield f'isolation: {servers["good"]}'
    if not servers['gone']['masked'] or servers['off']['enabled'] or servers['good']['sessions'] is not None:
        yield f'states: {done.stdout}'
    if [p['code'] for p in servers['bad']['problems']] != ['MCP-C-TYPE', 'MCP-C-UNKNOWN-KEY']:
        yield f'problems: {servers["bad"]}'
    if len(servers['shadowed']['shadowed']) != 1:
        yield f'shadowed: {servers["shadowed"]}'


@case
def list_of_nothing_says_where_to_begin():
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run([MCPCTL, SCOPE, f'--root={empty}', 'list'], env=ENV, capture_output=True, text=True, check=False)
    yield from wrong(done, 0, f'/{STRONG}/NAME.json')


@case
def show_prints_the_plan_and_no_secret():
    done = ctl('show', 'good')
    yield from wrong(done, 0, '/bin/cat', 'and 2 arguments', 'API_KEY', 'isolation.write[0]', 'tasks 512', 'fs-write',
                     'your own environment', str(ROOT))
    if ' enforced ' in done.stdout.replace('will be enforced', ''):
        yield 'a plan claims to be enforced'
    as_json = ctl('show', '--json', 'good')
    yield from wrong(as_json, 0)
    answer = json.loads(as_json.stdout)
    if set(answer) != {'file', 'starts', 'environment_of', 'plan', 'problems'} or not answer['starts']:
        yield f'members: {as_json.stdout}'
    if answer['plan']['environment'].count('API_KEY') != 1 or answer['environment_of'] != 'caller':
        yield f'environment: {answer["plan"]["environment"]}'
    yield from (f'prints {s}' for s in SECRETS if s in done.stdout + as_json.stdout)


@case
def show_takes_the_name_of_a_unit():
    yield from wrong(ctl('show', 'mcp-server@good.service'), 0, 'Server: good')
    yield from wrong(ctl('show', 'mcp-server@good.socket'), 0, 'Server: good')


@case
def show_of_what_cannot_be_shown():
    yield from wrong(ctl('show', 'bad'), 2, 'MCP-X-NO-PLAN', '/isolation/wirte')
    yield from wrong(ctl('show', 'gone'), 2, 'MCP-X-MASKED')
    yield from wrong(ctl('show', 'docker'), 3, 'docker')


def comma_locale():
    """The environment of a country that writes 1,5."""
    made = ROOT / 'locale/de_DE.UTF-8'
    made.parent.mkdir(exist_ok=True)
    try:
        subprocess.run(['localedef', '-i', 'de_DE', '-f', 'UTF-8', made], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as e:
        raise Skip('localedef cannot make de_DE.UTF-8 here') from e
    return {'LOCPATH': str(made.parent), 'LC_ALL': made.name}


@case
def fractions_are_the_same_in_every_country():
    define('fractions', {'command': '/bin/cat', 'stop': {'eof_grace': 1.5}, 'limits': {'memory': '1.5G'}})
    env = comma_locale()
    for command in (('show', 'fractions', '--json'), ('show', 'fractions'), ('check', 'fractions')):
        here, there = ctl(*command), ctl(*command, env=env)
        yield from wrong(there, here.returncode)
        if there.stdout != here.stdout:
            yield f'{" ".join(command)} says something else there'
    if '1500000' not in ctl('show', 'fractions', '--json', env=env).stdout:
        yield 'eof_grace is not 1.5 s'
    (ROOT / STRONG / 'fractions.json').unlink()


@case
def check_says_all_that_is_wrong():
    yield from wrong(ctl('check', 'bad'), 2, 'bad.json:2:14: error:', 'MCP-C-TYPE at /command', 'bad.json:3:17: error:',
                     'MCP-C-UNKNOWN-KEY at /isolation/wirte', 'Did you mean "write"?', stream='stdout')


@case
def check_exits_as_a_start_would():
    yield from wrong(ctl('check', 'good'), 0, 'will start')
    yield from wrong(ctl('check', 'off'), 0, 'disabled, a start will be refused')
    yield from wrong(ctl('check', 'docker'), 3, 'refused')
    yield from wrong(ctl('check', 'house'), 3, '/etc/systemd')
    yield from wrong(ctl('check', 'good', 'docker'), 3)
    yield from wrong(ctl('check', 'docker', 'bad'), 2)
    yield from wrong(ctl('check'), 2, 'good: ', 'gone: masked')


@case
def check_looks_with_the_units_eyes():
    """The system unit has a /tmp of its own, so what is below ours is not there for it."""
    if not SYSTEM:
        raise Skip('only root has system servers')
    with tempfile.TemporaryDirectory(dir='/tmp') as outside:
        file = pathlib.Path(outside) / 'new.json'
        file.write_text(json.dumps({'command': '/bin/cat', 'isolation': {'write': [outside]}}))
        yield from wrong(ctl('check', str(file)), 2, outside)


@case
def check_takes_a_file_that_is_not_in_place():
    with tempfile.TemporaryDirectory() as elsewhere:
        file = pathlib.Path(elsewhere) / 'new.json'
        file.write_text(json.dumps(GOOD))
        yield from wrong(ctl('check', str(file)), 0, 'will start')
        file.write_text('{"command": "/bin/cat",}')
        yield from wrong(ctl('check', str(file)), 2, 'new.json:1:')
        yield from wrong(ctl('check', str(file) + 'x'), 2)


@case
def check_as_json():
    done = ctl('check', '--json', 'good', 'bad')
    yield from wrong(done, 2)
    good, bad = json.loads(done.stdout)
    if not good['starts'] or good['exit_status'] != 0 or good['isolation']['mode'] != 'sandbox':
        yield f'good: {good}'
    if bad['starts'] or bad['exit_status'] != 2 or bad['problems'][0]['line'] != 2 or bad['isolation'] is not None:
        yield f'bad: {bad}'


@case
def unknown_server_is_answered_with_the_nearest():
    yield from wrong(ctl('show', 'goood'), 4, 'Did you mean "good"?', 'MCP-X-NO-SUCH-SERVER', stream='stderr')
    yield from wrong(ctl('check', 'nothing-like-it'), 4, 'mcpctl list', stream='stderr')
    error = json.loads(ctl('show', '--json', 'goood').stdout)['error']
    if error['code'] != 'MCP-X-NO-SUCH-SERVER' or 'good' not in error['remedy']:
        yield f'JSON: {error}'


@case
def wrong_usage_exits_with_2_and_says_what_is_right():
    for args, words in (
            (['chek'], ('"mcpctl check"',)), (['--jsn'], ('--json',)), (['show'], ('mcpctl show NAME',)), (['-x'], ('-x',)),
            (['check', '-dash'], ('no option -d', 'behind "--"')),
            (['show', 'a', 'b'], ('mcpctl show NAME',)), (['probe', 'good'], ('--root',)), (['list', '--follow'], ('--follow',)),
            (['--timeout'], ('needs a value',)), (['probe', '--timeout=soon', 'good'], ('30s',)), (['logs', '-n', 'x'], ('--lines',)),
            (['--json=1'], ('--json',)),
    ):
        yield from wrong(ctl(*args), 2, 'MCP-X-USAGE', *words, stream='stderr')


@case
def why_answers_from_the_plan():
    yield from wrong(ctl('why', 'good', '--path=/nowhere/at/all', '--access=write'), 1, 'Denied', 'No definition may')
    yield from wrong(ctl('why', 'good', '--path=/etc/systemd/system/x', '--access=write'), 1, 'No definition may grant')
    yield from wrong(ctl('why', 'good', '--path=/etc/hostname'), 0, 'Allowed')
    yield from wrong(ctl('why', 'good', '--connect=example.com:443'), 0, 'Allowed')
    yield from wrong(ctl('why', 'good', '--socket=/dev/null'), 1, 'Denied', '"unix_sockets": ["/dev/null"]', '/isolation')
    answer = json.loads(ctl('why', '--json', 'good', '--path=/srv/x/y', '--access=write').stdout)
    if answer['answer'] != 'denied' or answer['to_allow']['pointer'] != '/isolation/write' or answer['to_allow']['line'] != '"/srv"':
        yield f'JSON: {answer}'
    # In quotes a shell leaves it as it is.
    yield from wrong(ctl('why', 'good', '--path=~/x', '--access=write', env={'HOME': '/srv'}), 1, '/srv/x is not there')


@case
def what_why_proposes_is_accepted():
    with tempfile.TemporaryDirectory() as root:
        yield from wrong(fresh('add', 'x', '--', '/bin/cat', root=root), 0)
        file = pathlib.Path(root) / STRONG / 'x.json'
        proposal = json.loads(fresh('why', '--json', 'x', '--path=/srv/new', '--access=write', root=root).stdout)['to_allow']
        file.write_text(file.read_text().replace('{', '{' + proposal['line'] + ',', 1))
        yield from wrong(fresh('why', 'x', '--path=/srv/new', '--access=write', root=root), 0, 'Allowed')
        yield from wrong(fresh('check', 'x', root=root), 0)


@case
def why_is_asked_one_thing():
    for args, words in ((['--path=/x'], 'Name the server'), (['good', '--path=/x', '--socket=/y'], 'one thing'),
                        (['good', '--access=read'], 'one thing'), (['good', '--path=/x', '--access=own'], 'read, write or execute'),
                        (['good', '--connect=host'], 'HOST:PORT'), (['good', '--connect=host:70000'], 'HOST:PORT')):
        yield from wrong(ctl('why', *args), 2, 'MCP-X-USAGE', words, stream='stderr')


@case
def doctor_has_a_finding_for_all_that_is_not_well():
    done = ctl('doctor', '--json')
    yield from wrong(done, 2)
    answer = json.loads(done.stdout)
    found = {(f['check'], f['server'], f['level']) for f in answer['findings']}
    for expected in (('servers', 'bad', 'problem'), ('servers', 'docker', 'problem'), ('servers', 'house', 'problem'),
                     ('servers', 'off', 'note'), ('definitions', 'gone', 'note'), ('definitions', 'shadowed', 'note'),
                     ('secrets', 'good', 'warning')):
        if expected not in found:
            yield f'{expected} is missing in {sorted(map(str, found))}'
    if answer['level'] != 'problem' or not {'landlock', 'seccomp', 'hidepid', 'audit', 'snap'} <= {f['check'] for f in answer['findings']}:
        yield f'level {answer["level"]}, checks {sorted({f["check"] for f in answer["findings"]})}'
    yield from (f'no remedy: {f}' for f in answer['findings'] if f['level'] in ('warning', 'problem') and not f['remedy'])
    yield from (f'prints {s}' for s in SECRETS if s in done.stdout)


@case
def doctor_exits_for_monitoring():
    with tempfile.TemporaryDirectory() as root:
        file = pathlib.Path(root) / STRONG / 'x.json'
        file.parent.mkdir(parents=True)
        file.write_text('{"command": "/bin/cat", "isolation": {"mode": "none"}}')
        yield from wrong(fresh('doctor', root=root), 1, 'unconfined')
        file.write_text('{"command": "/bin/cat", "isolation": {"unix_sockets": "any"}}')
        yield from wrong(fresh('doctor', root=root), 1, 'UNIX sockets')
        file.write_text('{}')
        yield from wrong(fresh('doctor', root=root), 2, 'problem', 'mcpctl check')
        file.unlink()
        if fresh('doctor', root=root, env={'MCP_TEST_LANDLOCK_ABI': '0'}).returncode != 2:
            yield 'no Landlock is no problem'


@case
def add_writes_what_would_start_and_says_how_to_undo_it():
    with tempfile.TemporaryDirectory() as root:
        file = pathlib.Path(root) / STRONG / 'new.json'
        done = fresh('add', 'new', '--env', 'K=V=W', '--write=/srv', '--network=blocked', '--strict', '--', '/bin/cat', '-x', "it's",
                     root=root)
        if done.returncode == 3:
            raise Skip('this host does not enforce what --strict wants')
        yield from wrong(done, 0, str(file), 'mcp-connect', f'Undo: mcpctl {SCOPE} remove -- new')
        if json.loads(file.read_text()) != {'command': '/bin/cat', 'args': ['-x', "it's"], 'env': {'K': 'V=W'}, 'isolation': {
                'enforcement': 'strict', 'network': 'blocked', 'write': ['/srv']}}:
            yield f'the file: {file.read_text()}'
        if file.stat().st_mode & 0o777 != 0o600:
            yield f'others can read the variables: {file.stat().st_mode:o}'


@case
def add_replaces_only_with_force_and_keeps_what_was():
    with tempfile.TemporaryDirectory() as root:
        file = pathlib.Path(root) / STRONG / 'a b.json'
        yield from wrong(fresh('add', 'a b', '--', '/bin/cat', root=root), 0, "remove -- 'a b'")
        first = file.read_text()
        yield from wrong(fresh('add', 'a b', '--', '/bin/true', root=root), 1, 'MCP-X-EXISTS', '--force')
        if file.read_text() != first:
            yield 'it was replaced'
        yield from wrong(fresh('add', '--force', 'a b', '--', '/bin/true', root=root), 0, 'Undo: mv ')
        if (file.parent / 'a b.json~').read_text() != first or 'true' not in file.read_text():
            yield 'no backup, or not replaced'


@case
def add_refuses_what_would_not_start_and_writes_nothing():
    with tempfile.TemporaryDirectory() as root:
        for args, status, words in (
                (['x', '--', '/nonexistent/program'], 2, 'MCP-P-COMMAND-NOT-FOUND'),
                (['x', '--write=/etc/systemd/system', '--', '/bin/cat'], 3, 'MCP-X-NOT-SAVED'),
                (['x', '--env=1A=b', '--', '/bin/cat'], 2, 'NAME=VALUE'), (['x', '--env=SECRET', '--', '/bin/cat'], 2, 'not set here'),
                (['x', '--network=none', '--', '/bin/cat'], 2, 'blocked'), (['x', 'npx', '-y', 'p'], 2, '"--"'),
                (['x'], 2, 'mcpctl add NAME -- COMMAND'), (['', '--', '/bin/cat'], 2, 'name'),
                (['../x', '--', '/nonexistent/program'], 2, 'MCP-P-COMMAND-NOT-FOUND'),
        ):
            yield from wrong(fresh('add', *args, root=root), status, words)
        if any(p.is_file() for p in pathlib.Path(root).rglob('*')):
            yield 'something was written'


@case
def enable_and_disable_change_one_key_in_the_text():
    with tempfile.TemporaryDirectory() as root:
        file = pathlib.Path(root) / STRONG / 'x.json'
        file.parent.mkdir(parents=True)
        before = '{\n   "command":"/bin/cat" ,\n   "args" : [ "a",  "b" ]\n}\n'
        file.write_text(before)
        file.chmod(0o600)
        yield from wrong(fresh('disable', 'x', root=root), 0, 'Undo: mcpctl', 'enable -- x')
        if file.read_text() != before.replace('{\n', '{\n   "enabled": false,\n', 1) or file.stat().st_mode & 0o777 != 0o600:
            yield f'disabled: {file.read_text()}'
        yield from wrong(fresh('disable', 'x', root=root), 0, 'already')
        yield from wrong(fresh('enable', 'x', root=root), 0)
        if 'true' not in file.read_text():
            yield f'enabled: {file.read_text()}'


@case
def disable_of_a_packaged_definition_is_an_override():
    with tempfile.TemporaryDirectory() as root:
        weak, strong = (pathlib.Path(root) / d / 'x.json' for d in (WEAK, STRONG))
        weak.parent.mkdir(parents=True)
        weak.write_text('{"command":"/bin/cat","envFile":"x.env"}')
        yield from wrong(fresh('disable', 'x', root=root), 0, str(weak), 'remove -- x')
        if json.loads(strong.read_text()) != {'enabled': False, 'command': '/bin/cat', 'envFile': str(weak.parent / 'x.env')}:
            yield strong.read_text()
        yield from wrong(fresh('remove', 'x', root=root), 0, 'in effect now')
        yield from wrong(fresh('remove', 'x', root=root), 1, 'MCP-X-NOT-OURS', 'disable -- x')
        if not weak.exists():
            yield 'the file of the package is gone'


@case
def remove_can_be_undone():
    with tempfile.TemporaryDirectory() as root:
        yield from wrong(fresh('add', 'x', '--', '/bin/cat', root=root), 0)
        done = fresh('remove', '--json', 'x', root=root)
        yield from wrong(done, 0)
        answer = json.loads(done.stdout)
        if set(answer) != {'server', 'file', 'undo'} or pathlib.Path(answer['file']).exists():
            yield f'{answer}'
        subprocess.run(['sh', '-c', answer['undo'].partition(' && ')[0]], check=True)
        yield from wrong(fresh('list', root=root), 0, 'x.json')


@case
def edit_saves_only_what_would_start():
    with tempfile.TemporaryDirectory() as root:
        file = pathlib.Path(root) / STRONG / 'x.json'
        yield from wrong(fresh('add', 'x', '--', '/bin/cat', root=root), 0)
        first, editor = file.read_text(), pathlib.Path(root) / 'editor'
        # Not in the temp directory, where servers of the same user may write.
        env = {'EDITOR': f'{editor} --flag', 'XDG_RUNTIME_DIR': root, 'TMPDIR': '/tmp'}

        def write_editor(text):
            editor.write_text(f'#!/bin/sh\n[ "$1" = --flag ] || exit 9\n{text}\n')
            editor.chmod(0o755)
        write_editor('echo \'{"command": 1}\' > "$2"')
        yield from wrong(fresh('edit', 'x', root=root, env=env), 2, 'MCP-C-TYPE', 'MCP-X-NOT-SAVED', f'{root}/mcpctl-edit.')
        write_editor('exit 1')
        yield from wrong(fresh('edit', 'x', root=root, env=env), 1, 'MCP-X-EDITOR')
        write_editor(':')
        yield from wrong(fresh('edit', 'x', root=root, env=env), 0, 'Nothing was changed')
        if file.read_text() != first:
            yield 'something was changed'
        write_editor('sed -i s/cat/true/ "$2"')
        yield from wrong(fresh('edit', 'x', root=root, env=env), 0, 'was saved', 'Undo: mv')
        if 'true' not in file.read_text() or (file.parent / 'x.json~').read_text() != first:
            yield 'not saved, or no backup'


@case
def without_a_manager_nothing_is_started():
    env = {'DBUS_SYSTEM_BUS_ADDRESS': f'unix:path={ROOT}/no-bus', 'DBUS_SESSION_BUS_ADDRESS': f'unix:path={ROOT}/no-bus'}
    for verb in ('start', 'stop', 'restart'):
        yield from wrong(ctl(verb, 'good', root=False, env=env), 69, 'MCP-X-NO-MANAGER')


def over_ssh(*args, directory):
    """mcpctl -H with a shell in the place of ssh, sshd and the other machine."""
    ssh, program = pathlib.Path(directory) / 'ssh', pathlib.Path(directory) / 'mcpctl'
    if not ssh.exists():
        ssh.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > "${0%/*}/argv"\nfor line; do :; done\nexec /bin/sh -c "$line"\n')
        ssh.chmod(0o755)
        program.symlink_to(pathlib.Path(MCPCTL).resolve())
    env = {'SYSTEMD_SSH': str(ssh), 'PATH': f'{directory}:{ENV["PATH"]}'}
    return ctl('-H', 'ada@host', *args, env=env)


@case
def another_machine_is_asked_over_ssh():
    with tempfile.TemporaryDirectory() as directory:
        for args in (['list'], ['check', 'bad'], ['show', '--json', 'good'], ['show', 'nothing-like-it'], ['check', '--', 'good']):
            here, there = ctl(*args), over_ssh(*args, directory=directory)
            if (here.returncode, here.stdout) != (there.returncode, there.stdout):
                yield f'{args}: {there.returncode} {there.stdout}{there.stderr} instead of {here.returncode} {here.stdout}'
        argv = (pathlib.Path(directory) / 'argv').read_text().splitlines()
        if argv[:3] != ['-T', '--', 'ada@host'] or len(argv) != 4:
            yield f'ssh was given {argv}'
        for name in ("'; touch $PWD/oops; '", '$(touch oops)', '`touch oops`', 'a b', '--root=/', '\\', '"', "it's"):
            yield from wrong(over_ssh('show', '--', name, directory=directory), 4, name)
        if pathlib.Path('oops').exists():
            yield 'a shell ran what was a name'
    yield from wrong(ctl('-H', '-oProxyCommand=x', 'list'), 2, 'MCP-X-USAGE', 'no host')
    yield from wrong(ctl('-H', '', 'list'), 2, 'MCP-X-USAGE')
    yield from wrong(ctl('-H', 'host', 'list', env={'SYSTEMD_SSH': '/nonexistent/ssh'}), 127, 'MCP-X-EXEC')


@case
def tool_arguments_have_to_be_an_object():
    for text in ('[1]', '{', 'null', '7'):
        yield from wrong(ctl('call', 'good', 'tool', text, root=False), 2, 'JSON object')


@case
def without_a_manager_what_needs_one_says_so():
    env = {'DBUS_SYSTEM_BUS_ADDRESS': f'unix:path={ROOT}/no-bus', 'XDG_RUNTIME_DIR': str(ROOT / 'no-runtime'),
           'XDG_CONFIG_HOME': str((ROOT / STRONG).parents[1]), 'DBUS_SESSION_BUS_ADDRESS': f'unix:path={ROOT}/no-bus'}
    yield from wrong(ctl('status', root=False, env=env), 69, 'MCP-X-NO-MANAGER', stream='stderr')
    done = subprocess.run([MCPCTL, '--user', 'probe', 'good'], env={**ENV, **env}, capture_output=True, text=True, check=False)
    yield from wrong(done, 69, 'MCP-X-NOT-LISTENING', 'mcp-server@good.socket')
    done = subprocess.run([MCPCTL, '--user', 'list'], env={**ENV, **env}, capture_output=True, text=True, check=False)
    yield from wrong(done, 0, 'cannot be reached')


@case
def help_manual_and_completion_know_the_same_words():
    text = ctl('--help').stdout
    verbs = set(re.findall(r'^  ([a-z]+)(?: |$)', text.partition('Verbs:')[2].partition('Options:')[0], re.MULTILINE))
    options = set(re.findall(r'--([a-z-]+)', text.partition('Options:')[2].partition('Exit status:')[0]))
    if not {'list', 'probe'} <= verbs or not {'json', 'root'} <= options:
        yield f'the help has another form: {verbs} {options}'
    manual = (SOURCE / 'src/ctl/mcpctl.1').read_text()
    in_manual = {
        'verbs': {v for line in re.findall(r'^\.It Cm .*', manual.partition('.Sh VERBS')[2].partition('.Sh OPTIONS')[0], re.MULTILINE)
                  for v in re.findall(r'Cm ([a-z]+)', line)},
        'options': set(re.findall(r'Fl -([a-z-]+)', manual.partition('.Sh OPTIONS')[2].partition('.Sh EXIT')[0])),
    }
    bash, fish, zsh = ((SOURCE / f'src/ctl/mcpctl.{shell}').read_text() for shell in ('bash', 'fish', 'zsh'))
    in_bash = {
        'verbs': set(re.search(r"verbs='([^']*)'", bash)[1].split()),
        'options': {o.strip('-=') for o in re.search(r"options='([^']*)'", bash)[1].split()},
    }
    in_fish = {
        'verbs': set(re.search(r'set -l verbs (.*)', fish)[1].split()),
        'options': set(re.findall(r'^complete .* -l ([a-z-]+)', fish, re.MULTILINE)),
    }
    in_zsh = {
        'verbs': set(re.search(r'verbs=\(([^)]*)\)', zsh)[1].split()),
        'options': set(re.findall(r'--([a-z-]+)(?:=?\[|=?})', zsh)),
    }
    for where, found in (('manual', in_manual), ('bash', in_bash), ('fish', in_fish), ('zsh', in_zsh)):
        for kind, expected in (('verbs', verbs), ('options', options)):
            if found[kind] != expected:
                yield f'{kind} of the {where}: {sorted(found[kind] ^ expected)} is on one side only'


@case
def json_has_the_shapes_that_are_documented():
    known = shapes.documented((SOURCE / 'src/ctl/mcpctl.1').read_text())
    if len(known['']) < 10 or len(known['list']) < 3 or len(known['why']) < 4:
        yield f'the manual has another form: {known}'
    with tempfile.TemporaryDirectory() as root:
        cursor = pathlib.Path(root) / 'mcp.json'
        cursor.write_text('{"mcpServers": {"a": {"command": "uvx", "args": ["x", "${env:A}"], "fooBar": 1, "env": {"K_TOKEN": "x"}}, "b": {"url": "x"}}}')
        changes = [fresh('add', 'x', '--json', '--', '/bin/cat', root=root), fresh('disable', 'x', '--json', root=root),
                   fresh('enable', 'x', '--json', root=root), fresh('remove', 'x', '--json', root=root),
                   fresh('import', '--from=cursor', '--dry-run', '--json', str(cursor), root=root)]
    asked = [ctl('list', '--json'), ctl('show', '--json', 'good'), ctl('show', '--json', 'house'), ctl('check', '--json'), ctl('doctor', '--json'),
             ctl('why', '--json', 'good', '--path=/etc/x', '--access=write'), ctl('why', '--json', 'good', '--path=/tmp/x', '--access=write'),
             ctl('why', '--json', 'good', '--connect=localhost:1'), ctl('why', '--json'), ctl('show', '--json', 'nix')]
    for done in changes + asked:
        verb = next(a for a in done.args[1:] if a in known)
        yield from (f'{done.args[2:]}: {w}' for w in shapes.undocumented(json.loads(done.stdout), known[verb] + known['']))


@case
def what_cannot_be_printed_is_a_failure():
    """A full disk under a redirection: whatever the verb did or found, a script is not to take half of it for all."""
    words = 'Not all of the output could be written'
    with tempfile.TemporaryDirectory() as root, open('/dev/full', 'w', encoding='ascii') as full:
        cursor = pathlib.Path(root) / 'mcp.json'
        cursor.write_text('{"mcpServers": {"a": {"command": "uvx", "args": ["x"]}}}')
        fresh('add', 'x', '--', '/bin/cat', root=root)
        lines = ['list', 'show x', 'check', 'check x', 'why x --path=/etc/x', 'doctor', 'add y -- /bin/cat', 'enable x', 'disable x',
                 f'import --from=cursor --dry-run {cursor}', 'edit x', 'remove x', 'export --for=cursor y', '--help', '--version']
        for line in lines:
            for json_too in ([], ['--json']) if line.split()[0] not in ('export', '--help', '--version') else ([],):
                if line.startswith('add'):
                    line = line.replace('add ', 'add --force ')
                done = subprocess.run([MCPCTL, SCOPE, f'--root={root}', *json_too, *line.split()], env={**ENV, 'EDITOR': 'true'},
                                      stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
                if done.returncode == 0 or words not in ' '.join(done.stderr.split()):
                    yield f'{done.args[3:]}: exit status {done.returncode}: {done.stderr}'


@case
def closed_descriptors_are_nobody_elses():
    """The file that is written must not become where messages go."""
    for closed in ('<&-', '>&-', '2>&-', '<&- >&-', '<&- >&- 2>&-'):
        with tempfile.TemporaryDirectory() as root:
            command = f'exec "$@" {closed}'
            done = subprocess.run(['sh', '-c', command, 'sh', MCPCTL, SCOPE, f'--root={root}', 'add', 'x', '--', '/bin/cat'],
                                  env=ENV, capture_output=True, text=True, timeout=60, check=False)
            if done.returncode != ('>&-' in closed.replace('2>&-', '')):
                yield f'{closed}: exit status {done.returncode}: {done.stderr}'
            if json.loads((pathlib.Path(root) / STRONG / 'x.json').read_text()) != {'command': '/bin/cat'}:
                yield f'{closed}: another text was written'


@case
def what_is_already_so_is_an_answer_too():
    with tempfile.TemporaryDirectory() as root:
        fresh('add', 'x', '--', '/bin/cat', root=root)
        for args in (('enable',), ('edit',)):
            done = fresh(*args, '--json', 'x', root=root, env={'EDITOR': 'true'})
            yield from wrong(done, 0)
            answer = json.loads(done.stdout or 'null')
            if answer != {'server': 'x', 'file': str(pathlib.Path(root) / STRONG / 'x.json'), 'undo': None}:
                yield f'{args}: {answer}'


@case
def every_client_is_completed_and_in_the_manual():
    done = fresh('import', '--from=nobody', root=ROOT)
    clients = re.sub(r'\s+', ' ', done.stderr).partition('there are ')[2].partition('.')[0].split(', ')
    if not {'cursor', 'opencode', 'registry'} <= set(clients):
        yield f'the message has another form: {done.stderr}'
    manual = (SOURCE / 'src/ctl/mcpctl-import.1').read_text()
    found = {'manual': re.findall(r'^\.It Cm ([a-z-]+)$', manual, re.MULTILINE)}
    for shell in ('bash', 'zsh', 'fish'):
        words = re.search(r'claude-desktop [a-z -]+', (SOURCE / f'src/ctl/mcpctl.{shell}').read_text())
        found[shell] = words[0].split()
    yield from (f'{where}: {sorted(set(words) ^ set(clients))} is on one side only' for where, words in found.items()
                if set(words) != set(clients))


@case
def mcp_connect_has_help_manual_and_completions_with_the_same_words():
    room = SOURCE / 'src/connect'
    options = set(re.findall(r'^ *"[^"]*--([a-z]+)', (room / 'options.c').read_text(), re.MULTILINE)) - {'timeout takes'}
    found = {
        'manual': set(re.findall(r'\\-\\-([a-z]+)', (room / 'mcp-connect.1').read_text())),
        'bash': {o.strip('-') for o in re.search(r"options='([^']*)'", (room / 'mcp-connect.bash').read_text())[1].split()},
        'fish': set(re.findall(r'^complete .* -l ([a-z]+)', (room / 'mcp-connect.fish').read_text(), re.MULTILINE)),
        'zsh': set(re.findall(r'--([a-z]+)(?:\[|})', (room / 'mcp-connect.zsh').read_text())),
    }
    if not {'user', 'host', 'env'} <= options:
        yield f'the help has another form: {options}'
    yield from (f'{where}: {sorted(words ^ options)} is on one side only' for where, words in found.items() if words != options)
    for words, expected in ((('mcp-connect', 'g'), {'good'}), (('mcp-connect', '--user', 'b'), {'bad'}),
                            (('mcp-connect', '--ho'), {'--host'}), (('mcp-connect', '--timeout', ''), set())):
        if complete(*words) != expected:
            yield f'{words}: {complete(*words)}, not {expected}'


@case
def mcp_sandbox_has_help_manual_and_completions_with_the_same_words():
    room = SOURCE / 'src/sandbox-exec'
    options = set(re.findall(r'^ *"  +(?:-h |   )--([a-z-]+)', (room / 'options.c').read_text(), re.MULTILINE))
    found = {
        'manual': set(re.findall(r'Fl -([a-z-]+)', (room / 'mcp-sandbox.1').read_text())),
        'bash': set(re.findall(r'--([a-z-]+)', re.search(r"options='([^']*)'", (room / 'mcp-sandbox.bash').read_text())[1])),
        'fish': set(re.findall(r'^complete .* -l ([a-z-]+)', (room / 'mcp-sandbox.fish').read_text(), re.MULTILINE)),
        'zsh': set(re.findall(r'--([a-z-]+)(?:=?\[|})', (room / 'mcp-sandbox.zsh').read_text())),
    }
    if not {'help', 'unix-sockets', 'dry-run'} <= options:
        yield f'the help has another form: {options}'
    yield from (f'{where}: {sorted(words ^ options)} is on one side only' for where, words in found.items() if words != options)
    for words, expected in ((('mcp-sandbox', '--dr'), {'--dry-run'}), (('mcp-sandbox', '--network', '=', 'b'), {'blocked'}),
                            (('mcp-sandbox', '--home', ''), {'shared', 'private'}), (('mcp-sandbox', '--wr'), {'--write='}),
                            (('mcp-sandbox', '--strict', '--', 'mapfi'), {'mapfile'})):
        if complete(*words) != expected:
            yield f'{words}: {complete(*words)}, not {expected}'


def complete(*words):
    """What bash offers for the last word, where mcpctl lists four servers. A name is whatever a configuration has for a key."""
    room = {'mcp-connect': 'connect', 'mcp-sandbox': 'sandbox-exec'}.get(words[0], 'ctl')
    script = f"""source {SOURCE}/src/{room}/{words[0]}.bash
mcpctl() {{ printf '%-12s%s\\n' NAME STATE good running bad wrong 'my notes' running '$(echo evil)' running; }}
compopt() {{ :; }}
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_{words[0].replace('-', '_')}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(['bash', '-c', script, 'bash', *words], env=ENV, capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()) - {''}


@case
def bash_completes_verbs_options_and_servers():
    for words, expected in (
            (('mcpctl', 'stat'), {'status'}), (('mcpctl', '--js'), {'--json'}), (('mcpctl', '--user', 'show', ''), {'good', 'bad', 'my\\ notes', '\\$\\(echo\\ evil\\)'}),
            (('mcpctl', 'show', '$'), {'\\$\\(echo\\ evil\\)'}), (('mcp-connect', 'e'), set()), (('mcp-connect', 'my\\ '), {'my\\ notes'}),
            (('mcpctl', 'check', 'b'), {'bad'}), (('mcpctl', 'show', 'g'), {'good'}), (('mcpctl', 'show', 'good', ''), set()), (('mcpctl', 'list', ''), set()),
            (('mcpctl', 'status', 'good', 'b'), {'bad'}),
    ):
        if complete(*words) != expected:
            yield f'{words}: {complete(*words)}, not {expected}'


@case
def every_code_is_in_the_manual_and_no_other():
    """mcp-messages(7) is where people look a code up."""
    manual = set(re.findall(r'^\.It Li (MCP-[A-Z]-[A-Z0-9-]+)$', (SOURCE / 'src/report/mcp-messages.7').read_text(), re.MULTILINE))
    said = set()
    for path in [p for room in ('src', 'generators') for p in (SOURCE / room).rglob('*') if p.suffix in ('.c', '.h', '.cc')]:
        said |= set(re.findall(r'(?:"|\[)(MCP-[A-Z]-[A-Z0-9-]+)(?:"|\])', path.read_text()))
    if len(said) < 180:
        yield f'the codes have another form: {said}'
    yield from (f'{code} is in the sources and not in the manual' for code in sorted(said - manual))
    yield from (f'{code} is in the manual and not in the sources' for code in sorted(manual - said))
    for name in ('src/ctl/mcpctl.1', 'src/manifest/mcp-manifest.7', 'units/mcp-systemd.catalog'):
        for code in sorted(set(re.findall(r'MCP-[A-Z]-[A-Z0-9]+(?:-[A-Z0-9]+)*', (SOURCE / name).read_text())) - said):
            yield f'{code} is in {name} and not in the sources'


@case
def help_and_version():
    yield from wrong(ctl('--help', root=False), 0, 'Verbs:', 'Exit status:', stream='stdout')
    yield from wrong(ctl('--version', root=False), 0, 'mcp-systemd', stream='stdout')
    if not ctl('--help').stdout.isascii():
        yield 'the help is more than a plain terminal can show'
    yield from (f'wider than 80 columns: {line}' for line in ctl('--help').stdout.splitlines() if len(line) > 80)


def on_a_terminal(*args, env):
    """Runs mcpctl in a terminal; returns what it shows."""
    master, slave = pty.openpty()
    # High enough that less, told to quit where everything fits, never waits for a key.
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 1000, 80, 0, 0))
    with subprocess.Popen([MCPCTL, SCOPE, f'--root={ROOT}', *args], env={**ENV, 'TERM': 'xterm', **env}, stdin=slave,
                          stdout=slave, stderr=slave) as process:
        os.close(slave)
        shown = b''
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
        process.wait(60)
    os.close(master)
    return shown.decode()


@case
def terminal_gets_colours_and_80_columns():
    for args in (['show', 'good'], ['list'], ['check'], ['check', 'bad'], ['doctor'], ['why', 'good', '--path=/etc/x', '--access=write'], ['why'],
                 ['show', 'nix'], ['lst']):
        shown = on_a_terminal(*args, env={'COLUMNS': '80', 'PAGER': ''})
        if args[0] == 'show' and args[1] == 'good' and '\033[' not in shown:
            yield 'no colours'
        for line in re.sub(r'\033\[[0-9;]*m', '', shown).splitlines():
            # A word that is longer than the terminal stays one: a path is copied.
            if len(line.rstrip()) > 80 and max(map(len, line.split())) < 60:
                yield f'{args}: too long: {line!r}'
        if '\033' in on_a_terminal(*args, env={'NO_COLOR': '1', 'PAGER': ''}):
            yield f'{args}: colours in spite of NO_COLOR'
        if not shown.isascii():
            yield f'{args}: more than ASCII in the C locale'
        if re.sub(r'\033\[[0-9;]*m', '', shown) == shown and args == ['list'] and 'wrong' in shown:
            yield 'list has no colours'


@case
def long_output_goes_through_the_pager():
    if 'PAGED' not in on_a_terminal('list', env={'PAGER': 'sed s/NAME/PAGED/'}):
        yield 'the pager was not used'
    if 'PAGED' in on_a_terminal('list', '--no-pager', env={'PAGER': 'sed s/NAME/PAGED/'}):
        yield 'it was used in spite of --no-pager'
    if 'NAME' not in on_a_terminal('list', env={'PAGER': '/nonexistent/pager'}):
        yield 'nothing is shown without a pager'
    if 'PAGED' in on_a_terminal('list', env={'PAGER': 'sed s/NAME/PAGED/', 'SUDO_UID': '1000', 'LESS': 'FRXE'}):
        yield 'under sudo it runs any program'


if __name__ == '__main__':
    fill()
    sys.exit(run())
