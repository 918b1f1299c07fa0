# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a confined server can and cannot do: each right with an allowed and a denied use."""

import json
import os
import signal
import socket
import subprocess
import threading
import time

from checks import allowed, denied, nothing_left, talks
from harness import Skip, case, expect, expect_equal
from world import FIXTURES


@case
def writes_go_where_they_may_and_nowhere_else(world):
    inside, outside = world.directory('inside'), world.directory('outside')
    client = talks(world.fixture('honest', isolation={'write': [str(inside)]}).connect())
    allowed(client, 'write', path=str(inside / 'file'), text='x')
    expect_equal((inside / 'file').read_text(encoding='utf-8'), 'x', 'what was written')
    denied(client, 'write', path=str(outside / 'file'), text='x')
    expect(not (outside / 'file').exists(), 'the denied file is there')
    denied(client, 'write', path='/etc/motd-of-mine', text='x')


@case
def the_working_and_temp_directories_and_dev_null_can_be_written(world):
    client = talks(world.fixture('honest').connect())
    env = json.loads(client.call('environment')[0])
    cwd = json.loads(client.call('where')[0])['cwd']
    for path in (f'{cwd}/file', f'{env["TMPDIR"]}/file', '/dev/null'):
        allowed(client, 'write', path=path, text='x')


@case
def reads_stay_broad(world):
    client = talks(world.fixture('honest').connect())
    for path in ('/etc/passwd', '/usr/lib/os-release', '/proc/self/maps'):
        allowed(client, 'read', path=path)


@case
def files_can_be_renamed_between_writable_directories(world):
    inside = world.directory('rename')
    for name in ('a', 'b'):
        (inside / name).mkdir()
        (inside / name).chmod(0o777)
    client = talks(world.fixture('honest', isolation={'write': [str(inside)]}).connect())
    allowed(client, 'write', path=str(inside / 'a/file'), text='x')
    allowed(client, 'rename', **{'from': str(inside / 'a/file'), 'to': str(inside / 'b/file')})
    outside = world.directory('rename-outside')
    text, failed = client.call('rename', **{'from': str(inside / 'b/file'), 'to': str(outside / 'escaped')})
    expect(failed and not (outside / 'escaped').exists(), f'a file was moved out: {text!r}')


@case
def links_do_not_lead_out(world):
    inside, outside = world.directory('linked'), world.directory('target')
    (outside / 'file').touch()
    (outside / 'file').chmod(0o666)
    (inside / 'link').symlink_to(outside / 'file')
    client = talks(world.fixture('honest', isolation={'write': [str(inside)]}).connect())
    denied(client, 'write', path=str(inside / 'link'), text='x')


@case
def unix_sockets_are_shut(world):
    client = talks(world.fixture('honest').connect())
    denied(client, 'socket', family=int(socket.AF_UNIX))
    denied(client, 'socket', family=int(socket.AF_UNIX), address='/run/dbus/system_bus_socket')
    allowed(client, 'socket', family=int(socket.AF_INET))


@case
def unix_sockets_can_be_asked_for(world):
    client = talks(world.fixture('honest', isolation={'unix_sockets': 'any'}).connect())
    allowed(client, 'socket', family=int(socket.AF_UNIX), address='/run/dbus/system_bus_socket')


@case
def a_blocked_network_is_blocked_for_every_family(world):
    with socket.create_server(('127.0.0.1', 0)) as listener:
        address = list(listener.getsockname())
        threading.Thread(target=lambda: listener.accept(), daemon=True).start()
        free = talks(world.fixture('honest').connect())
        allowed(free, 'socket', family=int(socket.AF_INET), address=address)
    blocked = talks(world.fixture('honest', isolation={'network': 'blocked'}).connect())
    for family, kind in (
        (socket.AF_INET, socket.SOCK_STREAM),
        (socket.AF_INET, socket.SOCK_DGRAM),
        (socket.AF_INET6, socket.SOCK_STREAM),
        (socket.AF_NETLINK, socket.SOCK_RAW),
        (socket.AF_PACKET, socket.SOCK_RAW),
        (socket.AF_VSOCK, socket.SOCK_STREAM),
    ):
        denied(blocked, 'socket', family=int(family), type=int(kind))


@case
def signals_reach_nobody_outside(world):
    server, sibling = world.fixture('honest'), world.fixture('honest')
    client, other = talks(server.connect()), talks(sibling.connect())
    (beside,) = sibling.processes()
    for pid in (server.supervisor, sibling.supervisor, beside, os.getpid(), 1):
        denied(client, 'signal', pid=pid, signal=int(signal.SIGKILL))
    expect_equal(other.call('echo', text='alive'), ('alive', False), 'echo of the sibling')
    child = int(client.call('spawn')[0])
    allowed(client, 'signal', pid=child, signal=int(signal.SIGTERM))


@case
def two_servers_cannot_see_each_others_temp_files(world):
    one, two = (talks(world.fixture('honest', isolation={'home': 'private'}).connect()) for _ in range(2))
    paths = [json.loads(c.call('environment')[0])['TMPDIR'] + '/mine' for c in (one, two)]
    expect(paths[0] != paths[1], f'both have {paths[0]}')
    allowed(one, 'write', path=paths[0], text='x')
    text, failed = two.call('write', path=paths[0], text='y')
    expect(failed, f'the other server wrote {paths[0]}: {text}')
    expect_equal(allowed(one, 'read', path=paths[0]), 'x', 'what is there')


@case
def the_environment_of_others_cannot_be_read(world):
    """Not the supervisor's, not a sibling's: in a user's manager all have the same uid."""
    server, sibling = world.fixture('honest'), world.fixture('honest', env={'TOKEN': 'canary-of-the-sibling'})
    client = talks(server.connect())
    talks(sibling.connect())
    (beside,) = sibling.processes()
    for pid in (server.supervisor, beside):
        text, failed = client.call('read', path=f'/proc/{pid}/environ')
        # ENOENT is what ProtectProc=invisible says in the system manager.
        refused = failed and any(f'errno={e}:' in text for e in (1, 2, 13))
        expect(refused, f'the environment of {pid} was read: {text!r}')
    expect('canary' not in client.call('read', path='/proc/self/environ')[0], 'its own has the canary')


@case
def a_shell_and_its_children_find_themselves_in_proc(world):
    """Rules for /proc/self that are made for one process are no use to those that it starts."""
    text = """sh -c 'cat /proc/self/maps >/dev/null && exec /usr/bin/python3 -ISB "$@"' sh "$@"; :"""
    args = ['-c', text, 'sh', str(FIXTURES / 'server.py'), 'honest']
    for isolation in ({}, {'enforcement': 'best-effort', 'manifest': {'version': '0.1.0'}}):
        client = talks(world.define({'command': '/bin/sh', 'args': args, 'isolation': isolation}).connect())
        expect('[stack]' in allowed(client, 'read', path='/proc/self/maps'), 'these are no maps')


@case
def a_runtime_may_reserve_more_addresses_than_memory(world):
    """limits.memory is the control group's: RLIMIT_AS would end V8, Bun and WebAssembly at their start."""
    server = world.fixture('reserve', str(64 << 30), limits={'memory': '1G'})
    client = talks(server.connect())
    limits = allowed(client, 'read', path='/proc/self/limits')
    (line,) = [line for line in limits.splitlines() if line.startswith('Max address space')]
    expect_equal(line.split()[3:5], ['unlimited', 'unlimited'], 'RLIMIT_AS')


@case
def no_sandbox_means_none_and_says_so(world):
    outside = world.directory('unconfined')
    server = world.fixture('honest', isolation={'mode': 'none'})
    client = talks(server.connect())
    if world.kind == 'user':  # the system unit's read-only mounts are not the sandbox's
        allowed(client, 'write', path=str(outside / 'file'), text='x')
    records = world.journal(f'MCP_SERVER={server.name}')
    expect(
        any(r.get('MCP_ISOLATED') in ('0', 'no', 'false') for r in records),
        f'no record says that it is not isolated: {records}',
    )


@case
def docker_mode_is_refused(world):
    server = world.fixture('honest', isolation={'mode': 'docker'})
    client = server.connect()
    expect(client.wait() != 0, 'mcp-connect says that all is well')
    expect('docker' in client.stderr_text(), 'the reason is not told')


@case
def a_missing_command_and_a_missing_directory_are_told_apart(world):
    for keys, words, status in (
        ({'command': '/nonexistent/command'}, ('/nonexistent/command',), 127),
        ({'command': '/etc/passwd'}, ('/etc/passwd',), 126),
        (
            {'command': '/bin/cat', 'working_dir': '/nonexistent/dir'},
            ('/nonexistent/dir', 'working_dir'),
            None,
        ),
        ({'command': '/bin/cat', 'working_dir': '/etc/passwd'}, ('/etc/passwd', 'working_dir'), None),
    ):
        client = world.define(keys).connect()
        got = client.wait()
        text = client.stderr_text()
        expect(got == status if status else got != 0, f'{keys} gave exit status {got}: {text}')
        expect(all(w in text for w in words), f'{keys} is told as {text!r}')


@case
def a_working_directory_that_goes_is_told_by_path_and_key(world):
    """The plan was made while it was there; the command is still there, and must not be blamed."""
    work = world.directory('goes')
    server = world.fixture('honest', working_dir=str(work))
    talks(server.connect()).close()
    work.rmdir()
    client = server.connect()
    expect(client.wait() != 0, 'mcp-connect says that all is well')
    text = client.stderr_text()
    expect(str(work) in text and 'working_dir' in text, f'it is told as {text!r}')
    work.mkdir()
    work.chmod(0o777)
    time.sleep(0.5)  # the back-off of one failure is 100 ms
    expect_equal(json.loads(talks(server.connect()).call('where')[0])['cwd'], str(work), 'where it runs again')


@case
def a_working_directory_that_may_not_be_entered_is_told_by_path_and_key(world):
    """Root's own directory: the plan of the system manager can look into it, the server's user cannot."""
    work = world.directory('closed') / 'inner'
    work.mkdir()
    work.parent.chmod(0o700)
    client = world.fixture('honest', working_dir=str(work)).connect()
    expect(client.wait() != 0, 'mcp-connect says that all is well')
    text = client.stderr_text()
    expect(str(work) in text and 'working_dir' in text and 'ermission' in text, f'it is told as {text!r}')


@case
def an_overlay_is_granted_as_it_is_seen(world):
    """Not its layers, and a file of the lower one stays granted when it is copied up."""
    base = world.directory('overlay')
    subprocess.run(['mount', '-t', 'tmpfs', 'tmpfs', str(base)], check=True)
    try:
        for name in ('lower', 'upper', 'work', 'merged'):
            (base / name).mkdir()
        (base / 'lower/file').write_text('below', encoding='utf-8')
        # By Unix rules everyone may, so that only the sandbox can say no.
        subprocess.run(['chmod', '-R', 'a+rwX', str(base)], check=True)
        layers = f'lowerdir={base}/lower,upperdir={base}/upper,workdir={base}/work'
        mounted = subprocess.run(
            ['mount', '-t', 'overlay', '-o', layers, 'overlay', str(base / 'merged')], check=False, capture_output=True
        )
        if mounted.returncode:
            raise Skip(f'no overlay can be mounted here: {mounted.stderr.decode()}')
        server = world.fixture('honest', isolation={'write': [str(base / 'merged')]})
        client = talks(server.connect())
        allowed(client, 'write', path=str(base / 'merged/file'), text='above')
        allowed(client, 'write', path=str(base / 'merged/file'), text='above again')
        allowed(client, 'write', path=str(base / 'merged/new'), text='x')
        for layer in ('lower', 'upper'):
            denied(client, 'write', path=str(base / layer / 'file'), text='x')
        client.close()
        nothing_left(server)
        expect_equal((base / 'lower/file').read_text('utf-8'), 'below', 'the file of the lower layer')
        expect_equal((base / 'upper/file').read_text('utf-8'), 'above again', 'the file of the upper layer')
    finally:
        subprocess.run(['umount', '--recursive', '--lazy', str(base)], check=False)
