# SPDX-License-Identifier: LGPL-2.1-or-later
"""Servers by the dozen, and what there is of them afterwards, counted."""

import math
import os
import signal
import time

from checks import QUICK_STOP, SESSION_STARTED, WAYS, nothing_left, processes_of, talks, zombies_of
from client import Closed
from harness import case, eventually, expect, expect_equal
from world import FIXTURES, MEMBER

# As npx starts servers, with a process beside that does not go by itself.
WRAPPER = f'sh -c "sleep 1000 & exec /usr/bin/python3 -ISB {FIXTURES}/server.py honest"; :'


@case(timeout=90)
def fifty_servers_behind_a_wrapper_leave_no_process(world):
    """With and without the mark: there are no more processes of the server's user than before."""
    server = world.define({'command': '/bin/sh', 'args': ['-c', WRAPPER], 'stop': QUICK_STOP})
    client = talks(server.connect())
    uid = os.stat(f'/proc/{server.processes()[0]}').st_uid
    client.close()
    nothing_left(server)
    before = processes_of(uid)
    for number in range(50):
        client = server.open(WAYS[number % 2])
        client.initialize()
        client.kill()
    nothing_left(server, 30)
    eventually(
        lambda: processes_of(uid) <= before,
        lambda: f'{before} processes of uid {uid}, but {processes_of(uid)}',
    )


@case(timeout=90)
def twenty_killed_servers_leave_no_zombie(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    for number in range(20):
        client = server.open(WAYS[number % 2])
        client.initialize()
        for pid in server.processes():
            os.kill(pid, signal.SIGKILL)
        client.read_rest()
        client.kill()
        nothing_left(server)
        world.systemctl('reload', server.unit)  # a server that dies right after its start is slowed down
        eventually(lambda: served(server), 'it is served again')
    expect_equal(zombies_of(server.supervisor), [], 'zombies')


def served(server):
    """Whether a session works; right after a reload the supervisor may not have heard of it yet."""
    try:
        talks(server.connect()).close()
    except (Closed, BrokenPipeError):
        return False
    nothing_left(server)
    return True


def ends_at_once_case(status):
    def run(world):
        script = f'echo no key given >&2; exit {status}'
        server = world.define({'command': '/bin/sh', 'args': ['-c', script]})
        began = time.monotonic()
        for number in range(50):
            client = server.open(WAYS[number % 2])
            client.read_rest(20)
            if number % 2 == 0:  # as clients do, which see mcp-connect exit
                told = client.wait()
            if number == 0 and status:
                expect_equal(told, status, 'exit status')
                told = client.stderr_text()
                expect('no key given' in told, f'the last words are not in {told!r}')
            client.kill()
        # Five failures cost nothing, and then the delays double from 100 ms on: there is room for so many starts.
        most = 8 + math.log2(1 + (time.monotonic() - began) / 0.1)
        starts = len(world.journal(f'MCP_SERVER={server.name}', f'MESSAGE_ID={SESSION_STARTED}'))
        expect(1 <= starts <= most, f'{starts} starts for 50 clients, where {most:.0f} are enough')
        refused = server.connect()
        if refused.wait(20) == 69:
            told = refused.stderr_text()
            expect(f'status {status} right after its start' in told, f'the reason is not in {told!r}')
            expect('no key given' in told, f'the last words are not in {told!r}')
        nothing_left(server, 20)

    run.__name__ = f'a server that exits at once with {status} is slowed down'
    run.__module__ = __name__
    case(timeout=90)(run)


for _status in (0, 1):
    ends_at_once_case(_status)


@case(timeout=120)
def ten_probes_of_a_server_that_never_answers_leave_none(world):
    server = world.fixture('silent', stop=QUICK_STOP, init_timeout='1s', protocol='legacy')
    for number in range(10):
        done = world.run(['mcpctl', world.flag, 'probe', server.name], user=MEMBER, timeout=40)
        expect(done.returncode != 0 and 'did not answer' in done.stdout + done.stderr, f'probe says {done}')
        # The one before may still be on its way out.
        expect(len(server.processes()) <= 1, f'after {number + 1} probes there are {server.remains()}')
    nothing_left(server)
