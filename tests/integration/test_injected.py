# SPDX-License-Identifier: LGPL-2.1-or-later
"""A lack of everything, at each step of a session: whatever call fails, the client is told, nothing is
left, and the supervisor goes on."""

import contextlib
import errno
import random

import fail
from checks import QUICK_STOP, WAYS, nothing_left, talks
from client import Closed
from harness import case, eventually, expect, expect_equal

# How often a session calls each of them is found out; this is only where to give up counting.
MOST = 60
ERRORS = {
    'fork': errno.EAGAIN,
    'pipe2': errno.EMFILE,
    'pidfd_open': errno.EMFILE,
    'accept4': errno.ENFILE,
    'recvmsg': errno.ENOMEM,
    'sendmsg': errno.ENOBUFS,
    'epoll_ctl': errno.ENOSPC,
    'open': errno.EMFILE,
    'fcntl': errno.EMFILE,
    'getrandom': errno.EAGAIN,
}


@contextlib.contextmanager
def orders_of(server):
    orders = fail.Orders(server)
    try:
        yield orders
    finally:
        orders.close()


def session_that_may_fail(server, way):
    """It works, or its client sees an end; it never waits for nothing."""
    with contextlib.suppress(OSError):
        client = server.open(way)
        with contextlib.suppress(Closed, OSError, ValueError, KeyError):
            client.initialize()
        client.close()


def serves(server):
    try:
        talks(server.connect()).close()
    except (Closed, OSError, ValueError, KeyError):
        return False
    return True


def reload(server):
    """Forgets the back-off. systemctl may return before the signal is heard: a session later it has been."""
    server.world.systemctl('reload', server.unit)
    eventually(lambda: serves(server), lambda: 'no session works after a reload')
    nothing_left(server, 20)


def as_before(server, pid, fds):
    """The supervisor is the same, has the same descriptors, and serves."""
    nothing_left(server, 20)
    expect_equal(server.supervisor, pid, 'MainPID')
    reload(server)
    eventually(
        lambda: server.supervisor_fds() == fds, lambda: f'{fds} descriptors, but {server.supervisor_fds()}'
    )
    talks(server.connect()).close()
    nothing_left(server)


def fails_everywhere(world, function, way):
    server = world.fixture('honest', stop=QUICK_STOP)
    with orders_of(server) as orders:
        talks(server.connect()).close()
        nothing_left(server)
        pid, fds = server.supervisor, server.supervisor_fds()
        for nth in range(1, MOST):
            orders.give(function, ERRORS[function], nth)
            session_that_may_fail(server, way)
            nothing_left(server, 20)
            if not orders.take_back():
                break
            reload(server)
        as_before(server, pid, fds)
        expect(nth > 1, f'a session never calls {function}, so nothing was tested')


def case_of(function, way):
    def run(world):
        fails_everywhere(world, function, way)

    run.__name__ = f'{function} fails at each place of a session over {way}'
    run.__module__ = __name__
    case(run, timeout=180)


for _function in ERRORS:
    for _way in WAYS:
        # Only one of the ways has a message to receive.
        if _way == 'connect' or _function not in ('recvmsg', 'getrandom'):
            case_of(_function, _way)


@case(timeout=180)
def memory_runs_out_at_random(world):
    """Too many places to try each; the supervisor may even give up, if only nothing stays behind."""
    server = world.fixture('honest', stop=QUICK_STOP)
    with orders_of(server) as orders:
        talks(server.connect()).close()
        chance = random.Random(1)
        for number in range(30):
            orders.give('malloc', errno.ENOMEM, chance.randrange(1, 400))
            session_that_may_fail(server, WAYS[number % 2])
            nothing_left(server, 20)
            orders.take_back()
            world.systemctl('reload-or-restart', server.unit, check=False)
        nothing_left(server)
        talks(server.connect()).close()
        nothing_left(server)


@case
def a_scope_name_that_is_taken_is_not_taken_twice(world):
    """A stale unit has the name that chance would give the session."""
    server = world.fixture('honest')
    stale = f'mcp-{server.name}-0000000000000000'
    sleeper = world.popen(['systemd-run', world.flag, '--scope', '-q', f'--unit={stale}', 'sleep', '1000'])
    eventually(lambda: f'{stale}.scope' in server.scopes(), 'the stale scope')
    with orders_of(server) as orders:
        # A supervisor that starts takes it for one of its own, so it comes back.
        eventually(lambda: not server.scopes(), 'the stale scope is swept')
        sleeper.wait(10)
        sleeper = world.popen(
            ['systemd-run', world.flag, '--scope', '-q', f'--unit={stale}', 'sleep', '1000']
        )
        eventually(lambda: f'{stale}.scope' in server.scopes(), 'the stale scope')
        orders.give('getrandom', 0)
        client = talks(server.connect())
        expect(orders.take_back(), 'no name was made')
        expect_equal(len(server.scopes()), 2, 'scopes')
        client.close()
        eventually(lambda: server.scopes() == [f'{stale}.scope'], 'only the stale scope')
    sleeper.kill()
    sleeper.wait()


@case
def a_stale_file_of_a_scope_is_in_nobodys_way(world):
    """A manager that crashed leaves files of transient units; chance may give a session the name of one."""
    server = world.fixture('honest')
    with orders_of(server) as orders:
        stale = world.units / 'transient' / f'mcp-{server.name}-0000000000000000.scope'
        world.write(stale, '[Scope]\n')
        world.reload()
        try:
            orders.give('getrandom', 0)
            client = talks(server.connect())
            expect(orders.take_back(), 'no name was made')
            client.close()
        finally:
            stale.unlink(missing_ok=True)
        nothing_left(server)


@case
def a_child_that_dies_before_its_scope_is_made_leaves_none(world):
    """A zombie in a scope keeps it active for ever, if nobody stops it."""
    server = world.fixture('honest')
    with orders_of(server) as orders:
        for way in WAYS:
            orders.give('fork', 0)
            client = server.open(way)
            with contextlib.suppress(Closed, OSError, KeyError, AssertionError):
                client.initialize()
            client.close()
            expect(orders.take_back(), 'nothing was forked')
            nothing_left(server)
            reload(server)
        talks(server.connect()).close()
        nothing_left(server)


@case
def a_child_killed_on_its_way_into_confinement_is_no_refusal_of_it(world):
    """As where the service is stopped at that moment: no step failed, and the next start may well work."""
    server = world.fixture('honest', stop=QUICK_STOP)
    with orders_of(server) as orders:
        for error, status, words in ((0, 69, 'MCP-R-START'), (errno.ENOMEM, 3, 'MCP-R-EXEC')):
            orders.give('setsid', error)
            client = server.connect()
            expect_equal(client.wait(), status, 'exit status')
            said = client.stderr_text()
            expect(words in said, f'the client is told {said!r}')
            expect(orders.take_back(), 'no child began')
            nothing_left(server)
            reload(server)


@case(timeout=60)
def a_stop_while_the_server_is_being_confined_is_told_as_one(world):
    """Nothing has begun, and nothing has failed."""
    server = world.fixture('honest', stop=QUICK_STOP)
    with orders_of(server) as orders:
        for way in WAYS:
            talks(server.connect()).close()
            nothing_left(server)
            # The child stands still when it proves its confinement, before it executes anything.
            orders.give('open comm', 0)
            client = server.open(way)
            orders.wait()
            world.systemctl('stop', server.unit)
            if way == 'connect':
                expect_equal(client.wait(), 69, 'exit status')
                said = client.stderr_text()
            else:
                said = client.read_rest().decode()
            expect('MCP-R-STOPPING' in said, f'{way}: the client is told {said!r}')
            nothing_left(server)
            orders.take_back()
    told = {r['PRIORITY'] for r in world.journal(f'MCP_SERVER={server.name}', 'MCP_CODE=MCP-R-STOPPING')}
    expect_equal(told, {'4'}, 'priorities of what the journal says of it')


@case(timeout=120)
def a_reload_without_resources_keeps_what_was_read_before(world):
    """A file that cannot be opened for want of descriptors says nothing about the definition."""
    server = world.fixture('honest', stop=QUICK_STOP)
    with orders_of(server) as orders:
        talks(server.connect()).close()
        pid, kept = server.supervisor, 0
        for nth in (1, 3, 6, 10, 15, 21, 28, 36):
            cursor = last_of_the_journal(world)
            orders.give('open', errno.EMFILE, nth)
            world.systemctl('reload', server.unit)
            words = eventually(lambda: reload_result(world, server, cursor), 'a word about the reload')
            orders.take_back()
            kept += 'stays in effect' in words
            talks(server.connect()).close()
            expect('is not served' not in words, f'the definition is said to be wrong: {words}')
        expect(kept > 3, f'{kept} reloads could not read something')
        expect_equal(server.supervisor, pid, 'MainPID')
        nothing_left(server)


def last_of_the_journal(world):
    return world.journal('-n1')[-1]['__CURSOR']


def reload_result(world, server, cursor):
    """What systemd and the supervisor said since, once the reload is over."""
    said = [r['MESSAGE'] for r in world.journal(f'--after-cursor={cursor}') if server.name in str(r['MESSAGE'])]
    over = any('eloaded mcp-server@' in m or 'is not served' in m for m in said)
    return ' | '.join(said) if over else ''
