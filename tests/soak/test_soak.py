# SPDX-License-Identifier: LGPL-2.1-or-later
"""Many short sessions with faults at random, and nothing left at the end.  It takes minutes, so it
belongs to tests/run --full only.

MCP_SOAK_SESSIONS (default 1000) and MCP_SOAK_SEED (default 1) may be set; the same seed makes the same
sequence.
"""

import contextlib
import os
import pathlib
import random
import signal
import socket

from checks import QUICK_STOP, WAYS, nothing_left, talks
from client import Closed
from harness import case, eventually, expect, expect_equal

SESSIONS = int(os.environ.get('MCP_SOAK_SESSIONS', '1000'))
SEED = int(os.environ.get('MCP_SOAK_SEED', '1'))
TIMEOUT = 60 + 5 * SESSIONS
AT_ONCE = 4
# RSS after so many sessions is compared with RSS at the end: caches and arenas are full by then.
WARM_UP = 100
RSS_SLACK_KIB = 2048
MODES = ('honest', 'honest', 'honest', 'ignore_both', 'daemonize', 'exit')


def rss_kib(pid):
    for line in pathlib.Path(f'/proc/{pid}/status').read_text(encoding='utf-8').splitlines():
        if line.startswith('VmRSS:'):
            return int(line.split()[1])
    return 0


class Soak:
    def __init__(self, world, seed):
        self.world = world
        self.chance = random.Random(seed)
        self.servers = [self.define(mode) for mode in MODES]
        self.counts = {}

    def define(self, mode):
        args = ('1', 'no key given') if mode == 'exit' else ()
        return self.world.fixture(mode, *args, stop=QUICK_STOP, sessions={'max': 20})

    # -- what can happen to a session: its server, an open client ------------------

    def close(self, _server, client):
        client.close()

    def kill_client(self, _server, client):
        client.kill()

    def half_a_message(self, _server, client):
        client.send_bytes(b'{"jsonrpc":"2.0","id":')
        client.kill()

    def kill_server(self, server, client):
        for pid in server.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        client.kill()

    def say_nothing(self, server, client):
        client.close()
        with server.control_socket():
            pass

    def bad_hello(self, server, client):
        client.close()
        with server.control_socket() as connection:
            null = os.open('/dev/null', os.O_RDWR)
            socket.send_fds(connection, [b'{"version":1'], [null])
            os.close(null)

    # -- what can happen around it -------------------------------------------------

    def reload(self, server, client):
        self.world.systemctl('reload', server.unit, check=False)
        client.close()

    def daemon_reload(self, _server, client):
        self.world.reload()
        client.close()

    def daemon_reexec(self, _server, client):
        self.world.systemctl('daemon-reexec', check=False)
        client.close()

    def kill_supervisor(self, server, client):
        if pid := server.supervisor:
            os.kill(pid, self.chance.choice((signal.SIGKILL, signal.SIGSEGV)))
        client.kill()

    def restart(self, server, client):
        self.world.systemctl('restart', server.unit, check=False)
        client.kill()

    FAULTS = (
        (close, 40),
        (kill_client, 20),
        (half_a_message, 10),
        (kill_server, 10),
        (say_nothing, 5),
        (bad_hello, 5),
        (reload, 4),
        (daemon_reload, 2),
        (daemon_reexec, 1),
        (kill_supervisor, 2),
        (restart, 1),
    )

    def open(self, server):
        """A client that has said hello, or was refused, or came at a bad moment."""
        client = server.open(self.chance.choice(WAYS))
        with contextlib.suppress(Closed, OSError, ValueError, KeyError):
            client.initialize()
        return client

    def round(self):
        """A few sessions that overlap, each ended in its way."""
        opened = []
        for _ in range(self.chance.randint(1, AT_ONCE)):
            server = self.chance.choice(self.servers)
            opened.append((server, self.open(server)))
        self.chance.shuffle(opened)
        for server, client in opened:
            faults, weights = zip(*self.FAULTS)
            fault = self.chance.choices(faults, weights)[0]
            self.counts[fault.__name__] = self.counts.get(fault.__name__, 0) + 1
            with contextlib.suppress(Closed, OSError):
                fault(self, server, client)
            client.kill()
        self.world.clients.clear()
        return len(opened)

    def run(self, sessions):
        done = 0
        while done < sessions:
            done += self.round()
        for server in self.servers:
            nothing_left(server, 60)


def children_of(pid):
    return pathlib.Path(f'/proc/{pid}/task/{pid}/children').read_text(encoding='ascii').split()


def check(soak):
    """Idle supervisors have neither children nor scopes, and still serve."""
    for server, mode in zip(soak.servers, MODES):
        expect_equal(soak.world.property(server.socket_unit, 'ActiveState'), 'active', f'socket of {mode}')
        if pid := server.supervisor:
            expect_equal(children_of(pid), [], f'children of the supervisor of {mode}')
        if mode == 'honest':
            soak.world.systemctl('reload-or-restart', server.unit)
            talks(server.connect()).close()
            nothing_left(server)


@case(timeout=TIMEOUT)
def sessions_with_faults_at_random_leave_nothing(world):
    soak = Soak(world, SEED)
    soak.run(SESSIONS)
    check(soak)
    print(f'# seed {SEED}: {soak.counts}', flush=True)


@case(timeout=TIMEOUT)
def a_supervisors_memory_and_descriptors_do_not_grow(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    fds = rss = 0
    for number in range(3 * WARM_UP):
        if number == WARM_UP:
            nothing_left(server)
            fds, rss = server.supervisor_fds(), rss_kib(server.supervisor)
        client = server.open(WAYS[number % 2])
        client.initialize()
        (client.kill if number % 3 else client.close)()
        world.clients.clear()
    nothing_left(server)
    eventually(lambda: server.supervisor_fds() == fds, 'descriptors as before')
    after = rss_kib(server.supervisor)
    expect(after <= rss + RSS_SLACK_KIB, f'RSS grew from {rss} to {after} KiB')
    print(f'# {fds} descriptors; RSS {rss} KiB, then {after} KiB', flush=True)
