# SPDX-License-Identifier: LGPL-2.1-or-later
"""The verbs of mcpctl that change something, and who may use them."""

import contextlib
import grp
import json
import os
import pathlib
import shutil
import socket
import stat
import subprocess
import sys

from checks import nothing_left, talks
from harness import Skip, case, eventually, expect, expect_equal
from world import FIXTURES, MEMBER, STRANGER

sys.path.insert(0, str(FIXTURES.parent / 'ctl'))
import shapes  # pylint: disable=wrong-import-position

SERVER = ['/usr/bin/python3', '-ISB', str(FIXTURES / 'server.py')]


def mcpctl(world, *args, status=0, user=None, env=None):
    """Runs it, expects its exit status, and returns what it said."""
    done = world.run(['mcpctl', world.flag, *args], user=user, env=env, timeout=60)
    said = done.stdout + done.stderr
    expect_equal(done.returncode, status, f'mcpctl {args}: {said!r}: exit status')
    return said


def state(world, server):
    return world.property(server.socket_unit, 'ActiveState')


@case(timeout=60)
def a_server_is_added_and_removed(world):
    server = world.fixture('honest', start=False)
    server.file.unlink()
    said = mcpctl(world, 'add', server.name, '--', *SERVER, 'honest')
    expect('Undo:' in said and str(server.file) in said, f'it says: {said}')
    expect_equal(server.file.stat().st_uid, os.stat(world.home).st_uid, 'the owner of the file')
    talks(server.connect()).close()
    mcpctl(world, 'remove', server.name)
    expect_equal(world.property(server.socket_unit, 'LoadState'), 'not-found', 'the socket unit')
    nothing_left(server)
    mcpctl(world, 'add', server.name, '--', '/nonexistent/program', status=2)
    expect(not server.file.exists(), 'what would not start was written')


@case(timeout=60)
def disable_ends_sessions_and_enable_brings_the_server_back(world):
    server = world.fixture('honest')
    talks(server.connect())
    mcpctl(world, 'disable', server.name)
    expect(json.loads(server.file.read_text())['enabled'] is False, 'the definition does not say so')
    nothing_left(server)
    expect_equal(state(world, server), 'inactive', 'the socket')
    expect('MCP-X-DISABLED' in mcpctl(world, 'start', server.name, status=1), 'start does not say why not')
    mcpctl(world, 'enable', server.name)
    talks(server.connect()).close()


@case(timeout=60)
def start_stop_and_restart(world):
    server = world.fixture('honest', start=False)
    said = mcpctl(world, 'start', server.name)  # which has to reload first
    expect(f'Undo: mcpctl {world.flag} stop -- {server.name}' in said, f'it says: {said}')
    first = server.connect()
    talks(first)
    mcpctl(world, 'restart', server.name)
    eventually(lambda: first.process.poll() is not None, 'the end of the session')
    talks(server.connect())
    said = mcpctl(world, 'stop', server.name)
    expect(f'Undo: mcpctl {world.flag} start -- {server.name}' in said, f'it says: {said}')
    nothing_left(server)
    expect_equal(state(world, server), 'inactive', 'the socket')
    mcpctl(world, 'stop', server.name)


@case(timeout=60)
def edit_is_in_effect_at_once(world):
    server = world.fixture('honest')
    editor = world.write(pathlib.Path('/srv/mcp-cases/editor'), '#!/bin/sh\nsed -i \'s/"env"/"stderr": "client", "env"/\' "$1"\n', 0o755)
    said = mcpctl(world, 'edit', server.name, env={'EDITOR': str(editor)})
    expect('was saved' in said and 'Undo: mv' in said, f'it says: {said}')
    expect_equal(json.loads(server.file.read_text())['stderr'], 'client', 'the new key')
    talks(server.connect()).close()


@case(timeout=60)
def run_leaves_nothing_behind_and_exits_as_the_command_did(world):
    script = 'setsid sleep 4711 & grep -o "mcp-.run-[0-9a-f]*.scope" /proc/self/cgroup | head -n1; touch /etc/mcp-case; exit 7'
    said = mcpctl(world, 'run', '--', '/bin/sh', '-c', script, status=7)
    scope = said.splitlines()[0]
    expect(scope.startswith('mcp-.run-'), f'it did not run in a scope: {said}')
    expect('ermission denied' in said, f'it was not confined: {said}')
    expect(not pathlib.Path('/etc/mcp-case').exists(), 'it wrote to /etc')
    eventually(lambda: world.property(scope, 'ActiveState') == 'inactive', f'the end of {scope}')
    expect_equal(world.run(['pgrep', '-f', 'sleep 4711'], user='root').stdout, '', 'processes that stayed')


def arguments_of_all():
    """The arguments of every process, as everyone can read them."""
    found = b''
    for entry in pathlib.Path('/proc').iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                found += (entry / 'cmdline').read_bytes() + b'\n'
    return found


@case(timeout=60)
def run_keeps_values_out_of_every_argument(world):
    value, other = 'case-s3cret "of\nthe\\ environment\' $X', 'case-s3cret-of-the-file'
    file = world.write(world.directory('run-env', 0o755) / 'x.env', f'FROM_FILE={other}\nBOTH=lost\n', 0o600)
    script = 'printf "%s|%s|%s|" "$CASE_SECRET" "$FROM_FILE" "$BOTH"; ls /proc/$$/fd | tr "\\n" " "; sleep 3'
    process = world.popen(
        ['mcpctl', world.flag, 'run', '--env=CASE_SECRET', f'--env-file={file}', '--env=BOTH=kept', '--', '/bin/sh', '-c', script],
        env={'CASE_SECRET': value}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seen = b''
    eventually(lambda: b'sleep\x003' in arguments_of_all(), 'the command')
    for _ in range(5):
        seen += arguments_of_all()
    out, err = process.communicate(timeout=30)
    expect_equal(out.split('|')[:3], [value, other, 'kept'], f'{err}: the variables')
    expect_equal(out.split('|')[3].split(), ['0', '1', '2'], 'descriptors of the command')
    expect(b'CASE_SECRET' in seen and b'case-s3cret' not in seen, 'a value is in the arguments of a process')


@case(timeout=60)
def json_of_what_runs_has_the_shapes_that_are_documented(world):
    manual = (FIXTURES.parents[1] / 'src/ctl/mcpctl.1').read_text(encoding='utf-8')
    known = shapes.documented(manual)
    server, sick = world.fixture('honest'), world.fixture('noise')
    talks(server.connect())
    for args in (['status', server.name], ['probe', server.name], ['probe', sick.name], ['tools', server.name], ['list'], ['doctor']):
        done = world.run(['mcpctl', world.flag, '--json', *args], timeout=60)
        wrong = list(shapes.undocumented(json.loads(done.stdout), known[args[0]] + known['']))
        expect(not wrong, f'{args}: {wrong}')


@case(timeout=60)
def a_server_with_a_banner_is_told_what_to_do_about_it(world):
    said = ' '.join(mcpctl(world, 'probe', world.fixture('noise').name, status=1).split())
    for words in ('MCP-E-NOISE', 'Starting server on stdio...', 'standard error'):
        expect(words in said, f'{words} is not in: {said}')


@case(timeout=60)
def what_a_call_cannot_do_is_said(world):
    server = world.fixture('honest')
    said = mcpctl(world, 'call', world.fixture('honest').name, 'no_such_tool', '{}', status=1)
    expect('no_such_tool' in said, f'an unknown tool: {said}')
    # The arguments end it, and one that ends right after its start is not started anew at once.
    said = mcpctl(world, 'call', world.fixture('honest').name, 'echo', '{"wrong": 1}', status=1)
    expect('text' in said, f'wrong arguments: {said}')
    done = world.run(['mcpctl', world.flag, 'call', server.name, 'echo', '-'], stdin='{"text": "from stdin"}', timeout=30)
    expect_equal((done.returncode, done.stdout), (0, 'from stdin\n'), f'{done.stderr}: standard input')
    file = world.write(world.directory('call', 0o755) / 'x.json', '{"text": "from a file"}')
    expect('from a file' in mcpctl(world, 'call', server.name, 'echo', f'@{file}'), 'a file')


@case(managers=['system'], timeout=60)
def whoever_may_not_is_told_what_would_help(world):
    server = world.fixture('honest')
    said = ' '.join(mcpctl(world, 'call', server.name, 'echo', '{"text": "x"}', user=STRANGER, status=69).split())
    expect('MCP-X-NO-ACCESS' in said and '"mcp"' in said, f'a call: {said}')
    said = ' '.join(mcpctl(world, 'add', 'case-not-allowed', '--', '/bin/cat', user=MEMBER, status=1).split())
    expect('MCP-X-WRITE' in said and '--user' in said, f'add: {said}')


@case(timeout=60)
def doctor_looks_at_a_machine_that_runs(world):
    answer = json.loads(world.run(['mcpctl', world.flag, 'doctor', '--json'], timeout=60).stdout)
    found = {f['check']: f['level'] for f in answer['findings']}
    for check in ('installation', 'systemd', 'seccomp', 'landlock', 'hidepid'):
        expect_equal(found.get(check), 'ok', f'{check} in {answer}')


@case(managers=['system'], timeout=60)
def sockets_have_their_group_from_their_directory(world):
    """SocketGroup= would cost the manager a process for each server at boot; a directory that gives none is told."""
    server = world.fixture('honest')
    group = grp.getgrnam('mcp').gr_gid
    for path in (server.stream, server.control):
        st = os.stat(path)
        expect_equal((st.st_uid, st.st_gid, stat.S_IMODE(st.st_mode)), (0, group, 0o660), f'owner, group and mode of {path}')
    talks(server.connect(user=MEMBER)).close()
    expect(server.connect(user=STRANGER).wait() != 0, 'a stranger was let in')

    def group_finding():
        answer = json.loads(world.run(['mcpctl', world.flag, 'doctor', '--json'], timeout=60).stdout)
        return next(f for f in answer['findings'] if f['check'] == 'group')

    expect_equal(group_finding()['level'], 'ok', 'with the directory as it should be')
    try:
        os.chmod('/run/mcp', 0o755)
        found = group_finding()
        expect_equal(found['level'], 'problem', 'without the set-group-ID bit')
        expect('systemd-tmpfiles' in found['remedy'], f'{found}')
    finally:
        world.run(['systemd-tmpfiles', '--create', 'mcp-systemd.conf'], check=True)
    expect_equal(stat.S_IMODE(os.stat('/run/mcp').st_mode), 0o2755, 'mode of /run/mcp')


@case(managers=['system'], timeout=60)
def the_group_may_start_and_stop_servers_and_nothing_else(world):
    if not shutil.which('pkcheck') or not pathlib.Path('/usr/lib/polkit-1/polkitd').exists():
        raise Skip('polkitd is not installed')
    server = world.fixture('honest')
    for verb in ('stop', 'start', 'restart'):
        mcpctl(world, verb, server.name, user=MEMBER)
        expect_equal(state(world, server), 'inactive' if verb == 'stop' else 'active', f'the socket after {verb}')
    for args in (['stop', 'systemd-journald.socket'], ['stop', 'mcp.slice'], ['kill', server.socket_unit], ['daemon-reload'],
                 ['set-property', '--runtime', server.unit, 'TasksMax=1']):
        done = world.run(['systemctl', '--no-ask-password', *args], user=MEMBER)
        expect(done.returncode != 0, f'a member may: systemctl {args}')
    said = mcpctl(world, 'stop', server.name, user=STRANGER, status=1)
    expect('MCP-X-NOT-ALLOWED' in said, f'a stranger is told: {said}')
    expect_equal(state(world, server), 'active', 'the socket')


def sshd(world, directory):
    """An sshd for this case on the loopback interface, and what has ssh trust it; started as root."""
    directory.mkdir(mode=0o755, parents=True)
    world.scratch.append(directory)
    for key in ('host', 'user'):
        world.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', directory / key], user='root', check=True)
    shutil.chown(directory / 'user', world.owner)
    pathlib.Path('/run/sshd').mkdir(mode=0o755, exist_ok=True)
    world.write(directory / 'authorized_keys', (directory / 'user.pub').read_text(), owner='root')
    port = '22022'
    options = {'HostKey': directory / 'host', 'AuthorizedKeysFile': directory / 'authorized_keys', 'PidFile': 'none', 'Port': port,
               'ListenAddress': '127.0.0.1', 'StrictModes': 'no', 'UsePAM': 'yes', 'PermitRootLogin': 'yes',
               'SetEnv': f'XDG_RUNTIME_DIR={world.sockets.parent}'}
    process = world.popen(['/usr/sbin/sshd', '-D', '-e', '-f', '/dev/null', *(f'-o{k}={v}' for k, v in options.items())],
                          user='root', stderr=subprocess.DEVNULL)
    wrapper = world.write(
        directory / 'ssh',
        f'#!/bin/sh\nexec /usr/bin/ssh -F /dev/null -p {port} -i {directory}/user -oBatchMode=yes -oStrictHostKeyChecking=no '
        '-oUserKnownHostsFile=/dev/null -oLogLevel=ERROR "$@"\n', 0o755)
    return process, {'SYSTEMD_SSH': str(wrapper)}


def listens(port):
    with contextlib.suppress(OSError), socket.create_connection(('127.0.0.1', port), timeout=1):
        return True
    return False


@case(timeout=90)
def another_machine_over_a_real_sshd(world):
    if not pathlib.Path('/usr/sbin/sshd').exists() or not shutil.which('ssh'):
        raise Skip('sshd is not installed')
    server = world.fixture('honest')
    # The last of its logouts would else end the manager that the other cases have.
    world.run(['loginctl', 'enable-linger', MEMBER], user='root', check=True)
    process, env = sshd(world, pathlib.Path(f'/srv/mcp-cases/sshd-{world.kind}'))
    host = f'{world.owner}@127.0.0.1'
    try:
        eventually(lambda: listens(22022), 'sshd')
        client = server.connect('-H', host, user=world.owner, env=env)
        talks(client)
        client.close()
        expect_equal(client.wait(), 0, f'{client.stderr_text()}: the exit status')
        nothing_left(server)
        client = server.connect('-H', host, user=world.owner, env=env)
        talks(client)
        client.kill()
        nothing_left(server)
        done = world.run(['mcp-connect', world.flag, '-H', host, "it's; $(no) server"], env=env, stdin='')
        expect_equal(done.returncode, 69, f'{done.stderr}: the exit status')
        expect("it's; $(no) server" in done.stderr, f'it says: {done.stderr}')
        expect(server.name in mcpctl(world, '-H', host, 'list', env=env), 'the list does not show the server')
        said = mcpctl(world, '-H', host, 'disable', server.name, env=env)
        expect(f"Undo: ssh -- {host} 'mcpctl {world.flag} enable -- {server.name}'" in said, f'it says: {said}')
    finally:
        process.terminate()
        process.wait()


@case
def what_is_imported_is_known_to_the_manager_at_once(world):
    """Also where a program reads the answer."""
    for form in ([], ['--json']):
        name = f'imported-{os.getpid()}-{len(form)}'
        source = world.write(pathlib.Path('/srv/mcp-cases') / f'{name}.json', json.dumps(
            {'mcpServers': {name: {'command': SERVER[0], 'args': [*SERVER[1:], 'honest']}}}))
        file = world.definitions / f'{name}.json'
        try:
            done = world.run(['mcpctl', world.flag, 'import', '--yes', '--from=cursor', *form, source])
            expect(done.returncode == 0 and file.exists(), f'import says {done.stdout} {done.stderr}')
            world.systemctl('start', f'mcp-server@{name}.socket')
            world.systemctl('stop', f'mcp-server@{name}.socket')
        finally:
            file.unlink(missing_ok=True)
            source.unlink()
    world.reload()
