# SPDX-License-Identifier: LGPL-2.1-or-later
"""What takes as long as the supervisor's own patience: too long for every change."""

import os
import signal
import time

from checks import QUICK_STOP, nothing_left, talks
from client import Closed
from harness import case, eventually, expect, expect_equal
from world import MEMBER, ids_of


def manager_of(world):
    return int(world.run(['systemctl', 'show', '-P', 'MainPID', f'user@{ids_of(MEMBER)[0]}.service']).stdout)


@case(managers=['user'], timeout=120)
def a_manager_that_never_answers_is_given_up(world):
    """The client gets the reason; what the manager does of it much later is cleared away."""
    server = world.fixture('honest', stop=QUICK_STOP)
    running = talks(server.connect())
    pid = manager_of(world)
    os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        waiting = server.connect()
        expect_equal(waiting.wait(40), 69, 'exit status')
        expect(time.monotonic() - began < 30, 'it took longer than the 20 seconds that a scope has')
        said = waiting.stderr_text()
        expect('manager' in said and 'in time' in said, f'the client is told {said!r}')
        expect_equal(running.call('echo', text='still'), ('still', False), 'the session that runs')
    finally:
        os.kill(pid, signal.SIGCONT)
    running.close()
    nothing_left(server, 60)
    eventually(lambda: server.connect().close() == 0, 'a session after that', 20)
    nothing_left(server)


@case(timeout=90)
def a_stable_time_ends_the_back_off(world):
    flag = world.directory('works') / 'flag'
    script = f'[ -e {flag} ] && exec cat; echo no key given >&2; exit 3'
    server = world.define({'command': '/bin/sh', 'args': ['-c', script], 'stop': QUICK_STOP})

    def status():
        return server.connect().wait()

    eventually(lambda: status() == 69, 'a client that is told to come later')
    flag.touch()
    client = eventually(lambda: served(server), 'a session', 30)
    time.sleep(10.5)
    client.kill()
    nothing_left(server)
    flag.unlink()
    expect_equal(status(), 3, 'exit status of the first failure after a stable time')
    time.sleep(0.3)
    expect_equal(status(), 3, 'exit status a moment later: the wait is short again')


def served(server):
    client = server.connect()
    try:
        client.send_bytes(b'hello\n')
        return client if client.read_line(5) == b'hello' else None
    except (Closed, OSError):  # refused
        client.kill()
        return None
