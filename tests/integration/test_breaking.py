# SPDX-License-Identifier: LGPL-2.1-or-later
"""What nobody would do: descriptors, signals and units that are not meant for it.  Afterwards nothing is left, and
the supervisor serves as before, with as many descriptors as it had."""

import contextlib
import ctypes
import json
import os
import pathlib
import pty
import signal
import socket
import subprocess
import time

from checks import QUICK_STOP, WAYS, nothing_left, talks, talks_at_last
from client import Closed
from harness import Skip, case, eventually, expect, expect_equal
from world import MEMBER, ids_of

HELLO = b'{"version":1,"client":"test","env":{}}'


@contextlib.contextmanager
def unimpressed(server):
    """Nothing of what happens inside costs the supervisor a process, a scope or a descriptor."""
    talks(server.connect()).close()
    nothing_left(server)
    pid, fds = server.supervisor, server.supervisor_fds()
    yield pid
    nothing_left(server, 20)
    expect_equal(server.supervisor, pid, 'MainPID')
    eventually(
        lambda: server.supervisor_fds() == fds, lambda: f'{fds} descriptors, but {server.supervisor_fds()}'
    )
    talks(server.connect(), 'as before').close()
    nothing_left(server)


def say_hello(server, fds, text=HELLO):
    connection = server.control_socket()
    socket.send_fds(connection, [text], fds)
    return connection


def states(connection):
    """The messages up to the end of the connection."""
    found = []
    with contextlib.suppress(ConnectionResetError):
        while message := connection.recv(1 << 16):
            found.append(json.loads(message))
    return found


def answer(sock):
    """What a server at the other end of a socket says to a ping."""
    sock.settimeout(10)
    sock.sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    return sock.makefile('rb').readline()


@case
def one_descriptor_three_times(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    with unimpressed(server):
        ours, theirs = socket.socketpair()
        connection = say_hello(server, [theirs.fileno()] * 3)
        theirs.close()
        expect(b'"result"' in answer(ours), 'the server answers on the one socket')
        ours.close()
        expect_equal(states(connection)[-1]['state'], 'exited', 'last state')
        connection.close()


@case
def a_terminal_is_as_good_as_a_pipe(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    with unimpressed(server):
        master, slave = pty.openpty()
        connection = say_hello(server, [slave] * 3)
        os.close(slave)
        os.write(master, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        got = b''
        while b'"result"' not in got:
            got += os.read(master, 4096)
        connection.close()  # a terminal has no end that could be seen, a connection has
        nothing_left(server)
        os.close(master)


def special_descriptors():
    """By name, descriptors that are no streams. Those that this kernel or its settings refuse are not there."""
    libc = ctypes.CDLL(None, use_errno=True)
    made = {
        'epoll': libc.epoll_create1(os.O_CLOEXEC),
        'eventfd': libc.eventfd(0, os.O_CLOEXEC),
        'timerfd': libc.timerfd_create(1, os.O_CLOEXEC),
        'memfd': os.memfd_create('case'),
        'pidfd': os.pidfd_open(os.getpid()),
        'inotify': libc.inotify_init1(os.O_CLOEXEC),
        'userfaultfd': libc.syscall(323, os.O_CLOEXEC | os.O_NONBLOCK),
        'O_PATH': os.open('/etc/hostname', os.O_PATH),
        'directory': os.open('/', os.O_RDONLY),
        'read-only': os.open('/dev/null', os.O_RDONLY),
        'null': os.open('/dev/null', os.O_RDWR),
        'full': os.open('/dev/full', os.O_RDWR),
        'listening': socket.create_server(('127.0.0.1', 0)).detach(),
        'datagram': socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).detach(),
    }
    return {name: fd for name, fd in made.items() if fd >= 0}


@case(timeout=60)
def descriptors_that_are_no_streams(world):
    server = world.fixture('honest', stop=QUICK_STOP, sessions={'max': 20})
    with unimpressed(server):
        found = special_descriptors()
        for name, fd in found.items():
            connection = say_hello(server, [fd] * 3)
            os.close(fd)
            last = json.loads(connection.recv(1 << 16))['state']
            while last == 'starting':
                last = json.loads(connection.recv(1 << 16))['state']
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
            last = ([last] + [s['state'] for s in states(connection)])[-1]
            expect(last in ('refused', 'exited'), f'{name}: the last state is {last}')
            if name in ('O_PATH', 'directory', 'read-only'):
                expect_equal(last, 'refused', f'{name}')
            connection.close()


@case
def the_connection_to_the_supervisor_is_no_stdin(world):
    """It would keep itself open: the client's end would be its own server's."""
    server = world.fixture('honest', stop=QUICK_STOP)
    other = world.fixture('honest', stop=QUICK_STOP)
    with unimpressed(server):
        connection = server.control_socket()
        socket.send_fds(connection, [HELLO], [connection.fileno()] * 3)
        connection.close()
        with other.control_socket() as mine, server.control_socket() as yours:
            socket.send_fds(mine, [HELLO], [yours.fileno()] * 3)
            socket.send_fds(yours, [HELLO], [mine.fileno()] * 3)
            for c in (mine, yours):
                expect_equal(json.loads(c.recv(1 << 16))['state'], 'refused', 'state')
    nothing_left(other)


@case
def the_other_end_sits_in_a_queue(world):
    """The server's input is open only in a message that nobody receives."""
    server = world.fixture('ignore_eof', stop=QUICK_STOP)
    with unimpressed(server):
        ours, theirs = socket.socketpair()
        queue, end_of_queue = socket.socketpair()
        socket.send_fds(queue, [b'x'], [ours.fileno(), queue.fileno()])
        connection = say_hello(server, [theirs.fileno()] * 3)
        for s in (ours, theirs, queue, end_of_queue):
            s.close()
        time.sleep(0.2)
        connection.close()


@case
def a_client_that_never_reads(world):
    server = world.fixture('cat', stop=QUICK_STOP)
    honest = world.fixture('honest')
    for way in WAYS:
        client = server.open(way)
        os.set_blocking(client.writer, False)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(client.writer, b'x' * 65536)
        talks(honest.open(way)).close()
        client.kill()
        nothing_left(server)


@case
def a_client_that_stops_itself(world):
    """mcp-connect in SIGSTOP: neither its server's end nor its own needs it awake."""
    server = world.fixture('honest', stop=QUICK_STOP)
    with unimpressed(server):
        client = talks(server.connect())
        client.process.send_signal(signal.SIGSTOP)
        client.close_input()
        nothing_left(server)
        client.process.send_signal(signal.SIGCONT)
        expect_equal(client.wait(), 0, 'exit status')
        client = talks(server.connect())
        client.process.send_signal(signal.SIGSTOP)
        client.process.send_signal(signal.SIGKILL)


@case
def a_client_that_talks_on(world):
    """More messages with more descriptors, after the hello and before and after the server's end."""
    server = world.fixture('honest', stop=QUICK_STOP)
    with unimpressed(server):
        ours, theirs = socket.socketpair()
        connection = say_hello(server, [theirs.fileno()] * 3)
        for number in range(50):
            socket.send_fds(connection, [HELLO], [theirs.fileno()] * (number % 5))
        theirs.close()
        expect(b'"result"' in answer(ours), 'the server goes on')
        ours.close()
        with contextlib.suppress(OSError):
            for _ in range(5):
                socket.send_fds(connection, [HELLO], [0])
        connection.close()


@case
def many_that_connect_and_say_nothing(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    with unimpressed(server):
        halves = [server.control_socket() for _ in range(100)]
        halves += [server.dial().socket for _ in range(3)]
        for half in [*halves[::2], *halves]:
            half.close()
        world.clients.clear()


@case
def a_client_that_dies_before_it_is_looked_at(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    with unimpressed(server) as pid:
        os.kill(pid, signal.SIGSTOP)
        try:
            gone = world.popen(
                ['python3', '-ISc', f'import socket as s; s.socket(1, 5).connect({str(server.control)!r})'], user=MEMBER
            )
            expect_equal(gone.wait(10), 0, 'a client that connects and dies')
            waiting = [server.connect() for _ in range(3)]
        finally:
            os.kill(pid, signal.SIGCONT)
        for client in waiting:
            talks(client).close()
        said = eventually(
            lambda: [r for r in world.journal(f'MCP_SERVER={server.name}') if r.get('MCP_CODE') == 'MCP-R-GONE'],
            'the refusal in the journal',
        )
        expect('gone before' in said[0]['MESSAGE'], f'the journal says {said[0]["MESSAGE"]}')


# -- what a server may do to itself and others ---------------------------------------


@case
def a_server_that_kills_whom_it_can(world):
    """kill(-1): all that the user has. Landlock keeps it inside from ABI 6 on; in the system manager its user does."""
    other, bystander = world.fixture('honest'), world.popen(['sleep', '1000'])
    server = world.fixture('honest', stop=QUICK_STOP)
    witness, victim = talks(other.connect()), talks(server.connect())
    victim.call('spawn', setsid=True)
    pid = server.supervisor
    for signum in (signal.SIGSTOP, signal.SIGKILL):
        with contextlib.suppress(Closed):
            victim.call('signal', pid=-1, signal=int(signum))
    expect_equal(witness.call('echo', text='alive'), ('alive', False), 'another server')
    expect_equal(bystander.poll(), None, 'a process of the user outside')
    expect_equal(server.supervisor, pid, 'its own supervisor')
    victim.kill()
    bystander.kill()
    bystander.wait()
    nothing_left(server)


@case
def a_server_that_executes_what_is_setuid(world):
    path = world.directory('setuid') / 'id'
    path.write_bytes(open('/usr/bin/id', 'rb').read())
    os.chmod(path, 0o4755)
    server = world.define({'command': str(path), 'args': ['-u'], 'stop': QUICK_STOP})
    client = server.connect()
    uid = int(client.read_rest().decode() or -1)
    expect(uid not in (0, -1), f'it runs as {uid}')
    nothing_left(server)


@case
def a_server_that_closes_everything_and_stays(world):
    server = world.define(
        {'command': '/bin/sh', 'args': ['-c', 'exec <&- >&- 2>&-; trap "" TERM; while :; do sleep 1000; done'], 'stop': QUICK_STOP}
    )
    for way in WAYS:
        client = server.open(way)
        eventually(server.processes, 'the server')
        if way == 'connect':
            client.close_input()
        client.kill()
        nothing_left(server)


@case
def a_server_whose_stderr_has_no_lines(world):
    script = 'head -c 30000000 /dev/zero >&2; exec cat'
    server = world.define({'command': '/bin/sh', 'args': ['-c', script], 'stop': QUICK_STOP})
    client = server.connect()
    client.send_bytes(b'through\n')
    expect_equal(client.read_line(20), b'through', 'what cat gives back')
    with open(f'/proc/{server.supervisor}/status', encoding='ascii') as f:
        rss = next(int(line.split()[1]) for line in f if line.startswith('VmRSS'))
    expect(rss < 32 * 1024, f'the supervisor has {rss} KiB')
    client.close()
    nothing_left(server)


# -- what everything hangs on ---------------------------------------------------------


def bus_of(world):
    return int(world.property('dbus.service', 'MainPID'))


def manager_of(world):
    return int(world.run(['systemctl', 'show', '-P', 'MainPID', f'user@{ids_of(MEMBER)[0]}.service']).stdout)


def standstill_of(pid_of, what):
    def run(world):
        server = world.fixture('honest', stop=QUICK_STOP)
        running, ending = talks(server.connect()), talks(server.dial())
        pid = pid_of(world)
        os.kill(pid, signal.SIGSTOP)
        try:
            waiting = server.connect()
            ending.close()
            time.sleep(1)
            expect_equal(running.call('echo', text='still'), ('still', False), 'a session that needs nothing of it')
            expect_equal(waiting.process.poll(), None, 'mcp-connect of the session that waits')
        finally:
            os.kill(pid, signal.SIGCONT)
        talks(waiting).close()
        running.close()
        nothing_left(server)

    run.__name__ = f'{what} that stands still delays only who waits for it'
    run.__module__ = __name__
    case(run, managers=['user'])


standstill_of(bus_of, 'a bus')
standstill_of(manager_of, 'a manager')


def children_of(pid):
    with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as f:
        return {int(child) for child in f.read().split()}


def status_of(pid):
    with open(f'/proc/{pid}/status', encoding='ascii') as f:
        return dict(line.rstrip('\n').split(':\t', 1) for line in f if ':\t' in line)


@case(managers=['user'])
def what_waits_for_its_scope_is_confined_and_nobodys_to_look_into(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    running = talks(server.connect())
    supervisor, manager = server.supervisor, manager_of(world)
    before = children_of(supervisor)
    os.kill(manager, signal.SIGSTOP)
    try:
        waiting = server.connect()
        child = eventually(lambda: children_of(supervisor) - before, 'a child').pop()
        eventually(lambda: status_of(child)['Seccomp'] == '2', 'the filter is loaded')
        expect_equal(status_of(child)['NoNewPrivs'], '1', 'NoNewPrivs')
        expect_equal(os.readlink(f'/proc/{child}/exe'), os.readlink(f'/proc/{supervisor}/exe'), 'what it executes')
        expect_equal(len(os.listdir(f'/proc/{child}/fd')), 5, 'stdio, what it waits on, and what it reports through')
        expect_equal(os.stat(f'/proc/{child}/mem').st_uid, 0, 'owner of its memory')
        expect_equal(os.stat(f'/proc/{supervisor}/mem').st_uid, ids_of(MEMBER)[0], "owner of the supervisor's")
    finally:
        os.kill(manager, signal.SIGCONT)
    talks(waiting).close()
    running.close()
    nothing_left(server)


# -- what people may do to units -----------------------------------------------------


def stop_scope(world, scope):
    world.systemctl('stop', scope)


def kill_scope(world, scope):
    world.systemctl('kill', '--signal=KILL', scope)


def abandon_scope(world, scope):
    path = 'org.freedesktop.systemd1', '/org/freedesktop/systemd1/unit/' + ''.join(
        c if c.isalnum() else f'_{ord(c):02x}' for c in scope
    )
    world.run(['busctl', world.flag, 'call', *path, 'org.freedesktop.systemd1.Scope', 'Abandon'], check=True)


def freeze_scope(world, scope):
    if world.systemctl('freeze', scope, check=False).returncode != 0:
        raise Skip('the manager cannot freeze units here')


def stop_signal(world, scope):
    world.systemctl('kill', '--signal=STOP', scope)


def case_of(break_it):
    def run(world):
        server = world.fixture('daemonize', stop=QUICK_STOP)
        for way in WAYS:
            client = talks_at_last(server, way)
            (scope,) = server.scopes()
            break_it(world, scope)
            client.kill()
            nothing_left(server)
        talks_at_last(server, 'connect').close()
        nothing_left(server)

    run.__name__ = f'{break_it.__name__} under a session'
    run.__module__ = __name__
    case(run)


for _break in (stop_scope, kill_scope, abandon_scope, freeze_scope, stop_signal):
    case_of(_break)


@case
def the_slice_is_stopped(world):
    servers = [world.fixture(mode, stop=QUICK_STOP) for mode in ('honest', 'ignore_both')]
    clients = [talks(s.open(way)) for s in servers for way in WAYS]
    world.systemctl('stop', 'mcp.slice')
    for server in servers:
        nothing_left(server)
    for client in clients:
        client.kill()
    for server in servers:
        world.systemctl('start', server.socket_unit)
        talks(server.connect()).close()
        nothing_left(server)


@case
def the_socket_is_stopped_under_sessions(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    clients = [talks(server.open(way)) for way in WAYS]
    world.systemctl('stop', server.socket_unit)
    for client in clients:
        client.read_rest()
    nothing_left(server)
    expect_equal(world.property(server.unit, 'ActiveState'), 'inactive', 'the supervisor')
    expect(not server.control.exists() and not server.stream.exists(), 'the sockets are still there')
    world.systemctl('start', server.socket_unit)
    talks(server.connect()).close()
    nothing_left(server)


@case
def reloads_at_the_same_time_and_during_a_stop(world):
    server = world.fixture('ignore_eof', stop=QUICK_STOP)
    client = talks(server.connect())

    def at_once(*verbs):
        jobs = [world.popen(['systemctl', world.flag, verb, server.unit], stderr=subprocess.DEVNULL) for verb in verbs]
        return [job.wait(30) for job in jobs]

    expect_equal(at_once(*['reload'] * 4), [0] * 4, 'exit statuses of reloads')
    expect_equal(client.call('echo', text='still'), ('still', False), 'echo')
    at_once('stop', 'reload', 'reload')
    client.kill()
    nothing_left(server)
    talks(server.connect()).close()
    nothing_left(server)


@case
def a_definition_goes_and_comes_back_as_another_program(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    old = talks(server.connect())
    server.file.unlink()
    world.reload()
    server.write({'command': '/bin/cat', 'stop': QUICK_STOP})
    world.reload()
    world.systemctl('reload', server.unit)
    new = server.connect()
    new.send_bytes(b'echo\n')
    expect_equal(new.read_line(), b'echo', 'the new program')
    expect_equal(old.call('echo', text='old'), ('old', False), 'the old one')
    for client in (old, new):
        client.close()
    nothing_left(server)


def with_settings(world, server, settings):
    drop_in = world.units / world.kind / f'{server.unit}.d/90-case.conf'
    world.write(drop_in, f'[Service]\n{settings}\n')
    world.reload()
    world.systemctl('restart', server.unit)
    return drop_in


@case(timeout=60)
def a_supervisor_without_descriptors_left(world):
    server = world.fixture('honest', stop=QUICK_STOP, sessions={'max': 100}, limits={'nofile': 64})
    drop_in = with_settings(world, server, 'LimitNOFILE=64')
    try:
        with unimpressed(server):
            clients = [server.connect() for _ in range(24)]
            served = 0
            for client in clients:
                with contextlib.suppress(Closed, BrokenPipeError):
                    talks(client)
                    served += 1
            expect(0 < served < 24, f'{served} of 24 clients were served with 64 descriptors')
            for client in clients:
                client.kill()
            nothing_left(server, 20)
            world.systemctl('reload', server.unit)
    finally:
        drop_in.unlink()
        os.rmdir(drop_in.parent)


@case(managers=['user'])
def a_disk_that_is_full_is_told(world):
    """No room for the state directory: nothing is known about the definition then, and it is tried again."""
    state = world.home / '.local/state'
    state.mkdir(parents=True, exist_ok=True)
    subprocess.run(['mount', '-t', 'tmpfs', '-o', 'nr_inodes=1,mode=777', 'tmpfs', state], check=True)
    try:
        server = world.fixture('honest')
        client = server.connect()
        expect_equal(client.wait(20), 69, 'exit status')
        said = client.stderr_text()
        expect('No space left' in said and 'wrong' not in said, f'the client is told {said!r}')
    finally:
        subprocess.run(['umount', state], check=True)
    world.systemctl('restart', server.unit)
    talks(server.connect()).close()
    nothing_left(server)


@case(managers=['system'], timeout=60)
def isolate_leaves_servers_alone(world):
    """The target wants their sockets, and systemd keeps what these have started. It would take the user manager along."""
    server = world.fixture('honest', stop=QUICK_STOP)
    clients = [talks(server.open(way)) for way in WAYS]
    unit = f'user@{ids_of(MEMBER)[0]}.service'
    drop_in = world.write(f'/run/systemd/system/{unit}.d/90-case.conf', '[Unit]\nIgnoreOnIsolate=yes\n')
    world.reload()
    try:
        world.systemctl('isolate', 'multi-user.target', timeout=40)
    finally:
        drop_in.unlink()
    for client in clients:
        expect_equal(client.call('echo', text='still'), ('still', False), 'echo')
        client.close()
    nothing_left(server)
    talks(server.connect()).close()
    nothing_left(server)


@case
def a_client_that_waits_through_a_reload_gets_what_holds_now(world):
    """It has connected, and says hello only when the definition it was let in by is no more."""
    server = world.fixture('honest', stop=QUICK_STOP, sessions={'accept_env': ['LANG']})
    talks(server.connect()).close()
    pid = server.supervisor
    early, second = server.control_socket(), server.control_socket()
    expect_equal(server.supervisor, pid, 'MainPID')
    server.write({**server.definition, 'sessions': {'accept_env': []}, 'env': {'AFTER': 'the reload'}})
    world.reload()
    world.systemctl('reload', server.unit)

    def has_heard():
        client = talks(server.connect())
        found = 'the reload' in client.call('environment')[0]
        client.close()
        return found

    eventually(has_heard, 'the reload is heard')
    nothing_left(server)
    ours, theirs = socket.socketpair()
    fds = [theirs.fileno()] * 3
    socket.send_fds(early, [b'{"version":1,"client":"test","env":{"LANG":"C"}}'], fds)
    expect_equal(states(early)[-1].get('code'), 'MCP-R-ENV', 'code')
    socket.send_fds(second, [HELLO], fds)
    theirs.close()
    expect(b'"result"' in answer(ours), 'the server answers')
    (pid,) = server.processes()
    expect(
        b'AFTER=the reload' in pathlib.Path(f'/proc/{pid}/environ').read_bytes(),
        'its server is of the old definition',
    )
    ours.close()
    second.close()
    early.close()


@case(timeout=60)
def units_that_are_masked_are_called_so(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    client = talks(server.connect())
    world.systemctl('mask', '--runtime', server.unit)
    try:
        late = server.connect()
        expect_equal(late.wait(), 69, 'exit status')
        said = late.stderr_text()
        expect('is masked. [MCP-R-START]' in said, f'while it runs a client is told {said!r}')
        talks(client, 'still').close()
        nothing_left(server)
        world.systemctl('stop', server.unit)
        late = server.connect()
        expect_equal(late.wait(), 69, 'exit status')
        said = late.stderr_text()
        expect('Nobody answered' in said, f'a client is told {said!r}')
        for verb, words in (('status', 'Service: masked'), ('list', f'{server.name} masked'), ('doctor', 'is masked')):
            said = world.run(['mcpctl', world.flag, verb, *([server.name] if verb == 'status' else [])]).stdout
            expect(words in said, f'mcpctl {verb} says {said!r}')
    finally:
        world.systemctl('unmask', '--runtime', server.unit)
    world.systemctl('mask', '--runtime', '--now', server.socket_unit)
    try:
        done = world.run(['mcpctl', world.flag, 'start', server.name])
        expect(done.returncode == 1 and 'unmask' in done.stderr, f'mcpctl start says {done.stderr!r}')
        world.run(['mcpctl', world.flag, 'disable', server.name], check=True)
        done = world.run(['mcpctl', world.flag, 'enable', '--json', server.name])
        expect(done.returncode == 1 and 'error' in json.loads(done.stdout), f'mcpctl enable --json says {done.stdout!r}')
        said = world.run(['mcpctl', world.flag, 'status', server.name]).stdout
        expect('Socket: masked' in said, f'mcpctl status says {said!r}')
    finally:
        world.systemctl('unmask', '--runtime', server.socket_unit)
    world.run(['mcpctl', world.flag, 'start', server.name], check=True)
    talks(server.connect()).close()
    nothing_left(server)


@case(managers=['user'])
def a_runtime_directory_that_is_none_is_not_looked_at(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    for value in ('', 'relative'):
        talks(server.connect(env={'XDG_RUNTIME_DIR': value})).close()
    nothing_left(server)


@case
def closed_descriptors_are_the_empty_device(world):
    for closed in ('<&-', '>&-', '2>&-', '<&- >&- 2>&-'):
        # A server that finds no input and exits at once counts as one that fails: each has two of these, of six.
        server = world.fixture('honest', stop=QUICK_STOP)
        done = world.run(['sh', '-c', f'exec "$@" {closed}', 'sh', 'mcp-connect', world.flag, server.name], user=MEMBER)
        expect_equal((done.returncode, done.stdout, done.stderr), (0, '', ''), closed)
        nothing_left(server)
        done = world.run(['sh', '-c', f'exec "$@" {closed}', 'sh', 'mcpctl', world.flag, 'connect', server.name], user=MEMBER)
        expect_equal((done.returncode, done.stdout, done.stderr), (0, '', ''), f'mcpctl connect {closed}')
        talks(server.connect()).close()
        nothing_left(server)


@case
def no_program_takes_a_full_disk_for_an_answer(world):
    programs = ['mcpctl', 'mcp-connect', 'mcp-sandbox', '/usr/libexec/mcp-supervisor', '/usr/libexec/mcp-demo-server']
    programs.append(f'/usr/lib/systemd/{world.kind}-generators/mcp-server-generator')
    with open('/dev/full', 'w', encoding='ascii') as full:
        for program in programs:
            for option in ('--help', '--version'):
                expect_equal(world.run([program, option]).returncode, 0, f'{program} {option}')
                with world.popen([program, option], stdout=full, stderr=subprocess.DEVNULL) as process:
                    expect(process.wait(10) != 0, f'{program} {option} into nothing')
        server = world.fixture('honest', stop=QUICK_STOP)
        for args in (['probe', server.name], ['tools', server.name], ['call', server.name, 'echo', '{"text":"x"}'],
                     ['status'], ['start', server.name], ['restart', server.name], ['stop', server.name]):
            with world.popen(['mcpctl', world.flag, *args], stdout=full, stderr=subprocess.PIPE, text=True) as process:
                said = process.communicate(timeout=20)[1]
                expect(process.returncode != 0 and 'Not all of the output' in said, f'{args}: {process.returncode}, {said!r}')


@case(timeout=60)
def a_session_that_gives_way_to_a_stop_is_told_so(world):
    """systemd is stopping the service, and the supervisor does not know it yet: it gets no scope any more."""
    server = world.fixture('honest', stop=QUICK_STOP, start=False)
    drop_in = world.units / world.kind / f'{server.unit}.d/90-slow-stop.conf'
    world.write(drop_in, '[Service]\nExecStop=/bin/sleep 3\n')
    world.reload()
    try:
        world.systemctl('start', server.socket_unit)
        talks(server.connect()).close()
        nothing_left(server)
        with world.popen(['systemctl', world.flag, 'stop', server.unit], stderr=subprocess.DEVNULL) as stop:
            eventually(lambda: world.property(server.unit, 'ActiveState') == 'deactivating', 'the stop has begun')
            for _ in range(7):
                client = server.connect()
                expect_equal(client.wait(), 69, 'exit status')
                said = client.stderr_text()
                expect('MCP-R-STOPPING' in said, f'the client is told {said!r}')
            expect_equal(stop.wait(20), 0, 'systemctl stop')
        talks(server.connect(), 'after the stop').close()
        nothing_left(server)
    finally:
        drop_in.unlink()
        os.rmdir(drop_in.parent)
