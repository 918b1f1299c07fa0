# SPDX-License-Identifier: LGPL-2.1-or-later
"""Ways out that need a manager: the escape suite as a server, and what a server could ask systemd and us for."""

import pathlib
import platform
import pwd
import shlex
import subprocess
import sys
import tempfile

from checks import denied, talks
from harness import Skip, case, eventually, expect, expect_equal
from world import MEMBER

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'escape'))
import run_escape

ESCAPE = pathlib.Path('/srv/mcp-escape/escape')


def output(world, server):
    """What a server writes until it ends; its stdin stays open for as long."""
    process = world.popen(
        ['mcp-connect', world.flag, server.name],
        user=MEMBER,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors='replace',
    )
    try:
        return process.stdout.read()
    finally:
        process.kill()
        process.communicate()


def needs_landlock(world, abi, what):
    """In a user's manager a server is the user, whom nothing else keeps from it; that it is missing is told (test_rows)."""
    if world.kind == 'user' and run_escape.kernel_abi() < abi:
        raise Skip(f'nothing keeps a server from {what} below Landlock ABI {abi}')


def script(world, text, **isolation):
    """A server that is a shell script; what it wrote."""
    definition = {'command': '/bin/sh', 'args': ['-c', text]}
    return output(world, world.define({**definition, **({'isolation': isolation} if isolation else {})}))


@case(timeout=120)
def nothing_of_the_escape_suite_gets_out(world):
    if not ESCAPE.exists():
        raise Skip('the escape program was not built')
    user, abi, system = pwd.getpwnam(MEMBER), run_escape.kernel_abi(), world.kind == 'system'
    # Of the system manager's services /tmp and /var/tmp are private.
    with tempfile.TemporaryDirectory(dir='/srv') as base:
        there = run_escape.World(base, ESCAPE, None, user)
        if system:
            # By Unix rules everyone may, so that only the sandbox can say no.
            subprocess.run(['chmod', '-R', 'a+rwX', base], check=True)
        with there.victim() as victim:
            # What it starts in is its own in either manager; the system manager shows it the rest read-only.
            argv = [*there.argv('sandbox', abi, victim, '.' if system else None), f'--loose={int(system)}']
            keys = {} if system else {'working_dir': str(there.inside), 'env': {'HOME': str(there.home)}}
            server = world.define({'command': argv[0], 'args': argv[1:], **keys})
            lines = output(world, server).splitlines()
    expect(sum(line.startswith('ok ') for line in lines) > 100, 'it did not run: ' + '\n'.join(lines[:20]))
    wrong = [line for line in lines if not line.startswith(('ok ', '1..'))]
    expect(not wrong, 'not as it should be: ' + '\n'.join(wrong))


@case
def no_manager_can_be_asked_to_run_something(world):
    marker = world.directory('asked') / 'ran'
    uid = pwd.getpwnam(MEMBER).pw_uid
    start = (
        'call org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager '
        'StartUnit ss escape.service replace'
    )
    world.write(
        world.units / world.kind / 'escape.service',
        f'[Service]\nType=oneshot\nExecStart=/usr/bin/touch {marker}\n',
    )
    world.reload()
    commands = [
        f'systemd-run --quiet touch {marker}',
        f'systemd-run --user --quiet touch {marker}',
        'systemctl start escape.service',
        'systemctl --user start escape.service',
        f'busctl {start}',
        f'busctl --user {start}',
        f'busctl --address=unix:path=/run/user/{uid}/bus {start}',
        f'busctl --address=unix:path=/run/user/{uid}/systemd/private {start}',
        f'busctl --address=unix:path=/run/systemd/private {start}',
        'dbus-send --session --print-reply --dest=org.freedesktop.systemd1 /org/freedesktop/systemd1 '
        'org.freedesktop.systemd1.Manager.StartUnit string:escape.service string:replace',
        'systemctl --user set-environment LD_PRELOAD=/tmp/escape.so',
        'dbus-update-activation-environment --systemd LD_PRELOAD=/tmp/escape.so',
        'loginctl enable-linger',
        'loginctl list-sessions',
        'machinectl list',
        # Starts what it is told by itself, which is no way out; without Landlock there is nothing to get out of.
        f'mcpctl {world.flag} run -- touch {marker}' if run_escape.kernel_abi() > 0 else 'false',
        'sudo -n true',
        'su root -c true',
        'at now -f /dev/null',
        'crontab -l',
    ]
    text = f'export XDG_RUNTIME_DIR=/run/user/{uid}; '
    text += ''.join(f'{c} </dev/null && echo "got: "{shlex.quote(c)}; ' for c in commands)
    said = script(world, text + 'echo end')
    expect('end' in said, f'the script did not run: {said}')
    expect('got: ' not in said, f'a manager listened: {said}')
    expect(not marker.exists(), 'a manager ran it')


@case
def no_unit_and_no_definition_can_be_planted(world):
    needs_landlock(world, 1, 'files')
    home = pathlib.Path(pwd.getpwnam(MEMBER).pw_dir)
    client = talks(world.fixture('honest').connect())
    for path in (
        world.units / 'user/planted.service',
        world.units / 'system/planted.service',
        home / '.config/systemd/user/planted.service',
        home / '.local/share/dbus-1/services/planted.service',
        home / '.config/mcp/servers.d/planted.json',
        pathlib.Path('/etc/mcp/servers.d/planted.json'),
        pathlib.Path('/etc/systemd/system/planted.service'),
    ):
        if not path.parent.exists():
            subprocess.run(['install', '-d', '-o', MEMBER, path.parent], check=True)
        denied(client, 'write', path=str(path), text='x')
        expect(not path.exists(), f'{path} was made')


@case
def the_scopes_cgroup_cannot_be_left(world):
    needs_landlock(world, 1, 'files')
    server = world.fixture('honest')
    client = talks(server.connect())
    cgroup = eventually(server.cgroups, 'a cgroup of the session')[0]
    for name in ('cgroup.procs', 'pids.max', 'memory.max', 'cgroup.kill'):
        path = pathlib.Path(cgroup, name)
        if path.exists():
            denied(client, 'write', path=str(path), text='max')
    parent = pathlib.Path(cgroup).parent / 'cgroup.procs'
    denied(client, 'write', path=str(parent), text='0')


@case
def our_own_sockets_refuse_a_server(world):
    """A server that may use UNIX sockets must not become the client of another one, which may do more than it."""
    other = world.fixture('honest')
    expect_equal(other.remains(), [], 'of the other server, before')
    dial = (
        'import socket; s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect("%s"); '
        's.sendall(b"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"method\\":\\"ping\\"}\\n"); print("answer:", s.recv(1000))'
    ) % other.stream
    said = script(
        world,
        f"python3 -c '{dial}' 2>&1; mcp-connect {world.flag} {other.name} </dev/null 2>&1; echo status: $?",
        unix_sockets='any',
    )
    expect('status: ' in said, f'the script did not run: {said}')
    expect('status: 0' not in said, f'mcp-connect served a server: {said}')
    expect('"result"' not in said, f'the other server answered a server: {said}')
    expect_equal(other.remains(), [], 'of the other server')


@case
def the_kernel_sends_no_signal_for_a_server(world):
    """It does so to whom a descriptor is said to belong, when something happens to it: here to the supervisor."""
    needs_landlock(world, 6, 'signals')
    lines = (
        'import fcntl, os, signal, time',
        'r, w = os.pipe()',
        'fcntl.fcntl(r, fcntl.F_SETOWN, os.getppid())',
        'fcntl.fcntl(r, 10, signal.SIGTERM)',  # F_SETSIG
        'fcntl.fcntl(r, fcntl.F_SETFL, os.O_ASYNC)',
        'os.write(w, b"x")',
        'time.sleep(1)',
        'print("alive", os.getppid())',
    )
    server = world.define({'command': '/usr/bin/python3', 'args': ['-c', '\n'.join(lines)]})
    said = output(world, server)
    expect(f'alive {server.supervisor}\n' in said, f'the supervisor was signalled: {said}')


@case
def a_servers_children_are_not_its_supervisors(world):
    """CLONE_PARENT: a child for the supervisor to wait for, which would be a zombie for ever."""
    clone = {'x86_64': 56, 'aarch64': 220}.get(platform.machine())
    if not clone:
        raise Skip('the number of clone() is not known here')
    lines = (
        'import ctypes, os, time',
        'libc = ctypes.CDLL(None, use_errno=True)',
        f'pid = libc.syscall({clone}, 0x8000 | 17, 0, 0, 0, 0)',  # CLONE_PARENT | SIGCHLD
        'if pid == 0: os._exit(0)',
        'print("got", pid, ctypes.get_errno())',
    )
    server = world.define({'command': '/usr/bin/python3', 'args': ['-c', '\n'.join(lines)]})
    said = output(world, server)
    expect('got -1 1\n' in said, f'a child was given to the supervisor: {said}')
    eventually(lambda: not server.scopes(), 'the scope to be gone')
