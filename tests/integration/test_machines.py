# SPDX-License-Identifier: LGPL-2.1-or-later
"""What real machines do: clocks that jump, file systems that are full or read-only, numbers of processes that come
again."""

import contextlib
import os
import pathlib
import signal
import subprocess
import time

from checks import QUICK_STOP, WAYS, nothing_left, talks, talks_at_last
from client import Closed
from harness import Skip, case, eventually, expect, expect_equal
from test_injected import orders_of
from world import MEMBER, ids_of

MONOTONIC_CLOCKS = {'1', '7'}  # CLOCK_MONOTONIC, CLOCK_BOOTTIME
A_YEAR = 365 * 86400


def clocks_of_timers(pid):
    """The clocks by which a process waits (timerfd; proc(5), fdinfo)."""
    found = []
    for fd in os.listdir(f'/proc/{pid}/fdinfo'):
        with contextlib.suppress(OSError), open(f'/proc/{pid}/fdinfo/{fd}', encoding='ascii') as f:
            found += [line.split()[1] for line in f if line.startswith('clockid:')]
    return found


def on_clock_case(name, jump):
    def run(world):
        server = world.fixture('ignore_both', stop=QUICK_STOP, limits={'runtime': '1h'}, sessions={'idle_timeout': '1h'})
        with orders_of(server) as orders:
            clients = [talks(server.open(way)) for way in WAYS]
            pid = server.supervisor
            timers = clocks_of_timers(pid)
            expect(timers and set(timers) <= MONOTONIC_CLOCKS, f'clocks of timers: {timers}')
            orders.give('clock', jump)
            world.systemctl('reload', server.unit)  # something to wake up for
            time.sleep(1)
            for client in clients:
                expect_equal(client.call('echo', text='still'), ('still', False), 'echo')
            began = time.monotonic()
            late = talks(server.connect())
            for client in (*clients, late):
                client.close()
            nothing_left(server)
            expect(time.monotonic() - began < 10, 'the end took longer than eof_grace and kill_after')
            expect(orders.take_back(), 'nobody asked for the time')
            expect_equal(server.supervisor, pid, 'MainPID')
            expect(set(clocks_of_timers(pid)) <= MONOTONIC_CLOCKS, f'clocks of timers: {clocks_of_timers(pid)}')
            talks(server.connect()).close()
            nothing_left(server)

    run.__name__ = f'a wall clock that is set {name} by a year ends nothing and delays nothing'
    run.__module__ = __name__
    case(timeout=60)(run)


on_clock_case('forward', A_YEAR)
on_clock_case('back', -A_YEAR)


# -- file systems ------------------------------------------------------------------


def mount(*args):
    done = subprocess.run(['mount', *map(str, args)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Skip(f'mount {args}: {done.stderr.strip()}')


@contextlib.contextmanager
def full(top):
    """A tmpfs that takes neither another byte nor another file: its limits are what is in it."""
    with open('/proc/self/mounts', encoding='utf-8') as f:
        options = [line.split()[3] for line in f if line.split()[1] == str(top)][-1]
    before = [o for o in options.split(',') if o.startswith(('size=', 'nr_inodes='))]
    used = os.statvfs(top)
    size, files = (used.f_blocks - used.f_bfree) * used.f_frsize, used.f_files - used.f_ffree
    mount('-o', f'remount,size={size},nr_inodes={files}', top)
    try:
        yield
    finally:
        mount('-o', 'remount,' + ','.join(before), top)


def answered(client):
    """What became of a client, which is served or told why not."""
    try:
        talks(client)
    except (Closed, BrokenPipeError):
        return client.wait(), client.stderr_text()
    client.close()
    return 0, ''


@case(timeout=90)
def a_full_runtime_directory_is_told_and_ends_no_session(world):
    """Sockets, the files of transient units and the journal are there."""
    server = world.fixture('honest', stop=QUICK_STOP)
    running, ending = talks(server.connect()), talks(server.connect())
    pid = server.supervisor
    with full(world.sockets.parent):
        expect_equal(running.call('echo', text='still'), ('still', False), 'echo')
        ending.close()
        eventually(lambda: len(server.scopes()) == 1, lambda: f'scopes: {server.scopes()}')
    with full(world.sockets.parent):  # what has ended had made room
        status, said = answered(server.connect())
        expect(status == 69 and 'No space left' in said, f'the client is told {said!r}, exit status {status}')
        expect_equal(running.call('echo', text='still'), ('still', False), 'echo')
    expect_equal(server.supervisor, pid, 'MainPID')
    world.systemctl('reload', server.unit)
    eventually(lambda: answered(server.connect())[0] == 0, 'a session afterwards')
    running.close()
    nothing_left(server)


@contextlib.contextmanager
def read_only(top):
    mount('--bind', top, top)
    try:
        mount('-o', 'remount,bind,ro', top)
        yield
    finally:
        subprocess.run(['umount', '--lazy', top], check=True)


@case(timeout=90)
def a_read_only_state_directory_is_told_and_ends_no_session(world):
    """/var in the system manager, the home directory in a user's."""
    old = world.fixture('honest', stop=QUICK_STOP)
    new = world.fixture('honest', stop=QUICK_STOP)
    running = talks(old.connect())
    with read_only(pathlib.Path('/var') if world.kind == 'system' else world.home):
        expect_equal(running.call('echo', text='still'), ('still', False), 'echo')
        status, said = answered(new.connect())
        word = 'STATE_DIRECTORY' if world.kind == 'system' else 'Read-only file system'
        expect(status in (3, 69) and word in said, f'the client is told {said!r}, exit status {status}')
        nothing_left(new)
        expect_equal(world.property(new.socket_unit, 'ActiveState'), 'active', 'socket')
        expect_equal(running.call('echo', text='still'), ('still', False), 'echo')
    eventually(lambda: answered(new.connect())[0] == 0, 'a session afterwards', 20)
    running.close()
    for server in (old, new):
        nothing_left(server)


# -- numbers -------------------------------------------------------------------------


@contextlib.contextmanager
def last_pid():
    """The file that says which number the next process comes after (Linux with CONFIG_CHECKPOINT_RESTORE)."""
    at = pathlib.Path('/srv/mcp-cases/proc')
    at.mkdir(parents=True, exist_ok=True)
    mount('-t', 'proc', 'proc', at)
    try:
        file = at / 'sys/kernel/ns_last_pid'
        if not file.exists():
            raise Skip('numbers of processes cannot be chosen here')
        yield file
    finally:
        subprocess.run(['umount', '--lazy', at], check=True)


def process_with_number(file, number):
    """A process of the manager's owner, which would be let in."""
    for _ in range(200):
        file.write_text(str(number - 1), encoding='ascii')
        process = subprocess.Popen(['sleep', '1000'], user=ids_of(MEMBER)[0])
        if process.pid == number:
            return process
        process.kill()
        process.wait()
    raise Skip(f'no process got the number {number}')


@case
def a_dead_clients_number_is_nobodys_identity(world):
    """Before the supervisor looks, the client is dead and its number another process's."""
    server = world.fixture('honest', stop=QUICK_STOP)
    talks(server.connect()).close()
    nothing_left(server)
    pid = server.supervisor
    with last_pid() as file:
        os.kill(pid, signal.SIGSTOP)
        try:
            gone = world.popen(
                ['python3', '-ISc', f'import socket as s; s.socket(1, 5).connect({str(server.control)!r})'], user=MEMBER
            )
            expect_equal(gone.wait(10), 0, 'a client that connects and dies')
            other = process_with_number(file, gone.pid)
        finally:
            os.kill(pid, signal.SIGCONT)
        try:
            said = eventually(
                lambda: [r for r in world.journal(f'MCP_SERVER={server.name}') if r.get('MCP_CODE') == 'MCP-R-GONE'],
                'the refusal in the journal',
            )
            expect_equal(said[0].get('MCP_CLIENT_PID'), str(gone.pid), 'MCP_CLIENT_PID')
            expect_equal(other.poll(), None, 'the process that has the number now')
        finally:
            other.kill()
            other.wait()
    talks(server.connect()).close()
    nothing_left(server)


@case
def a_dead_servers_number_is_not_taken_by_another(world):
    """A dead child keeps its number until its session is over, so no signal can reach another process."""
    server = world.fixture('daemonize', stop=QUICK_STOP)
    client = talks(server.connect())
    pid = server.supervisor
    (child,) = pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text(encoding='ascii').split()
    with last_pid() as file:
        os.kill(pid, signal.SIGSTOP)
        try:
            os.kill(int(child), signal.SIGKILL)
            for _ in range(20):
                file.write_text(str(int(child) - 1), encoding='ascii')
                with subprocess.Popen(['true']) as other:
                    expect(other.pid != int(child), 'the number of a child that nobody has waited for was given away')
        finally:
            os.kill(pid, signal.SIGCONT)
    client.kill()
    nothing_left(server)
    expect_equal(server.supervisor, pid, 'MainPID')
    talks_at_last(server, 'connect').close()
    nothing_left(server)


@case
def a_supervisor_that_is_killed_for_memory_is_started_again(world):
    """What the kernel's choice comes to: SIGKILL for the supervisor alone. Its sessions go, its socket stays, and the
    client that comes next is served."""
    server = world.fixture('daemonize', stop=QUICK_STOP)
    clients = [talks(server.open(way)) for way in WAYS]
    silent = server.control_socket()
    pid = server.supervisor
    os.kill(pid, signal.SIGKILL)
    for client in clients:
        client.read_rest() if not hasattr(client, 'process') else client.wait()
    nothing_left(server)
    silent.settimeout(10)
    with contextlib.suppress(ConnectionResetError):
        expect_equal(silent.recv(1), b'', 'what a client that said nothing sees')
    eventually(lambda: server.supervisor not in (0, pid), 'another supervisor')  # Restart=on-failure
    for way in WAYS:
        talks(server.open(way)).close()
        nothing_left(server)
    silent.close()
