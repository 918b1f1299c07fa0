# SPDX-License-Identifier: LGPL-2.1-or-later
"""Thousands of short sessions with faults at random, and nothing left at the end.  It takes minutes, so it
belongs to tests/run --full only.

MCP_SOAK_SESSIONS (default 1500) are made in each manager, and MCP_SOAK_SEED (default 1) may be set: the same seed makes
the same sequence of servers, ways in and faults.
"""

import contextlib
import os
import pathlib
import random
import signal
import socket
import time

from checks import WAYS, nothing_left, rss_kib, talks
from client import Closed
from harness import case, eventually, expect, expect_equal

SESSIONS = int(os.environ.get('MCP_SOAK_SESSIONS', '1500'))
SEED = int(os.environ.get('MCP_SOAK_SEED', '1'))
TIMEOUT = 120 + 2 * SESSIONS
AT_ONCE = 24
STOP = {'eof_grace': '200ms', 'kill_after': '200ms'}
# RSS after so many sessions is compared with RSS at the end: caches and arenas are full by then.
WARM_UP = 100
GROWTH = 300
RSS_SLACK_KIB = 1024

# Servers that start quickly, and one of each kind that does not go by itself. They answer a line with a line.
SERVERS = {
    'cat': '/bin/cat',
    'ignores both': 'trap "" TERM; cat; while :; do sleep 1000; done',
    'leaves a daemon': 'trap "" TERM; setsid sleep 1000 & exec cat',
    'swallows EOF': 'sleep 1000 <&0 & cat; wait',
    'fails': 'echo no key given >&2; exit 1',
    'talks on stderr': 'seq 1000 >&2; exec cat',
}
STEADY = ('cat', 'leaves a daemon')


class Soak:
    def __init__(self, world, seed):
        self.world = world
        self.chance = random.Random(seed)
        self.servers = {name: self.define(script) for name, script in SERVERS.items()}
        self.counts = {}
        self.answered = 0

    def define(self, script):
        command = {'command': '/bin/sh', 'args': ['-c', script]} if ' ' in script else {'command': script}
        return self.world.define({**command, 'stop': STOP, 'sessions': {'max': 40}})

    # -- what can happen to a session: its server, an open client ------------------

    def close(self, _server, client):
        with contextlib.suppress(OSError):
            client.close_input()

    def kill_client(self, _server, client):
        client.kill()

    def half_a_message(self, _server, client):
        client.send_bytes(b'{"jsonrpc":"2.0","id":')
        client.kill()

    def kill_server(self, server, client):
        for scope in server.scopes()[:1]:
            self.world.systemctl('kill', '--signal=KILL', scope, check=False)
        client.kill()

    def stop_scope(self, server, client):
        for scope in server.scopes()[:1]:
            self.world.systemctl('stop', '--no-block', scope, check=False)
        client.kill()

    def say_nothing(self, server, _client):
        with server.control_socket():
            pass

    def bad_hello(self, server, _client):
        with server.control_socket() as connection, open('/dev/null', 'rb') as null:
            socket.send_fds(connection, [b'{"version":1'], [null.fileno()])

    # -- what can happen around it -------------------------------------------------

    def reload(self, server, _client):
        self.world.systemctl('reload', server.unit, check=False)

    def daemon_reload(self, _server, _client):
        self.world.reload()

    def daemon_reexec(self, _server, _client):
        self.world.systemctl('daemon-reexec', check=False)

    def kill_supervisor(self, server, _client):
        if pid := server.supervisor:
            os.kill(pid, self.chance.choice((signal.SIGKILL, signal.SIGSEGV)))

    def restart(self, server, _client):
        self.world.systemctl('restart', server.unit, check=False)

    FAULTS = (
        (close, 500),
        (kill_client, 200),
        (half_a_message, 100),
        (kill_server, 40),
        (stop_scope, 20),
        (say_nothing, 50),
        (bad_hello, 50),
        (reload, 20),
        (daemon_reload, 5),
        (daemon_reexec, 2),
        (kill_supervisor, 10),
        (restart, 5),
    )

    def open(self, server):
        """A client that has sent something; None where it came at a bad moment."""
        with contextlib.suppress(OSError):
            # Each mcp-connect is a process: one in four keeps thousands affordable.
            client = server.open(self.chance.choices(WAYS, (1, 3))[0])
            with contextlib.suppress(OSError, Closed):
                client.send_bytes(b'hello\n')
            return client
        return None

    def wait_for_word(self, client):
        with contextlib.suppress(Closed, OSError, AssertionError):
            self.answered += client.read_line(5) == b'hello'

    def round(self):
        """Sessions that overlap, each ended in its way."""
        opened = []
        for _ in range(self.chance.randint(AT_ONCE // 2, AT_ONCE)):
            server = self.servers[self.chance.choice(list(self.servers))]
            if client := self.open(server):
                opened.append((server, client))
        self.chance.shuffle(opened)
        for number, (server, client) in enumerate(opened):
            if number % 2:
                self.wait_for_word(client)
            faults, weights = zip(*self.FAULTS)
            fault = self.chance.choices(faults, weights)[0]
            self.counts[fault.__name__] = self.counts.get(fault.__name__, 0) + 1
            with contextlib.suppress(Closed, OSError):
                fault(self, server, client)
        for _server, client in opened:
            client.kill()
        self.world.clients.clear()
        return len(opened)

    def run(self, sessions):
        done = 0
        while done < sessions:
            done += self.round()
        for server in self.servers.values():
            nothing_left(server, 60)
        return done


def children_of(pid):
    return pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text(encoding='ascii').split()


def sockets_of(pid):
    """A supervisor without sessions has those that it listens on, the bus, and the journal's. 1 and 2 are systemd's."""
    found = []
    for fd in set(os.listdir(f'/proc/{pid}/fd')) - {'0', '1', '2'}:
        with contextlib.suppress(OSError):
            found += [fd] if os.readlink(f'/proc/{pid}/fd/{fd}').startswith('socket:') else []
    return len(found)


def speaks(server):
    client = server.connect()
    client.send_bytes(b'still\n')
    expect_equal(client.read_line(), b'still', 'what a server gives back')
    client.kill()
    nothing_left(server)


def check(soak):
    """Supervisors without sessions have neither children nor clients' descriptors, and still serve."""
    for name, server in soak.servers.items():
        expect_equal(soak.world.property(server.socket_unit, 'ActiveState'), 'active', f'socket of "{name}"')
        if pid := server.supervisor:
            expect_equal(children_of(pid), [], f'children of the supervisor of "{name}"')
            eventually(
                lambda p=pid: sockets_of(p) <= 4, lambda p=pid, n=name: f'{sockets_of(p)} sockets of "{n}"'
            )
        if name in STEADY:
            soak.world.systemctl('reload-or-restart', server.unit)
            speaks(server)


@case(timeout=TIMEOUT)
def sessions_with_faults_at_random_leave_nothing(world):
    soak = Soak(world, SEED)
    began = time.monotonic()
    done = soak.run(SESSIONS)
    took = time.monotonic() - began
    check(soak)
    expect(soak.answered > done // 8, f'only {soak.answered} of {done} sessions ever answered')
    print(f'# seed {SEED}: {done} sessions in {took:.0f} s, {soak.answered} answered, then {soak.counts}', flush=True)


@case(timeout=TIMEOUT)
def a_supervisors_memory_and_descriptors_do_not_grow(world):
    server = world.define({'command': '/bin/cat', 'stop': STOP})
    fds = rss = 0
    for number in range(WARM_UP + GROWTH):
        if number == WARM_UP:
            nothing_left(server)
            fds, rss = server.supervisor_fds(), rss_kib(server.supervisor)
        client = server.open(WAYS[number % 4 > 0])
        client.send_bytes(b'hello\n')
        client.read_line()
        client.kill()
        world.clients.clear()
    nothing_left(server)
    eventually(lambda: server.supervisor_fds() == fds, 'descriptors as before')
    after = rss_kib(server.supervisor)
    expect(after <= rss + RSS_SLACK_KIB, f'RSS grew from {rss} to {after} KiB')
    print(f'# {fds} descriptors; RSS {rss} KiB, then {after} KiB after {GROWTH} sessions', flush=True)


@case(timeout=120)
def a_thousand_connections_that_say_nothing(world):
    """The waiting room is small; who finds no place in it is told so, and everybody else is served meanwhile."""
    server = world.define({'command': '/bin/cat', 'stop': STOP})
    speaks(server)
    fds = server.supervisor_fds()
    silent = []
    for _ in range(1000):
        silent.append(server.control_socket())
    late = server.connect()
    with contextlib.suppress(Closed, OSError):
        late.send_bytes(b'hello\n')
        expect_equal(late.read_line(), b'hello', 'what it gives back')
    late.kill()
    for connection in silent:
        connection.close()
    nothing_left(server)
    eventually(lambda: server.supervisor_fds() == fds, lambda: f'{fds} descriptors, but {server.supervisor_fds()}')
    speaks(server)
    talks_to = world.fixture('honest')
    talks(talks_to.connect()).close()
    nothing_left(talks_to)
