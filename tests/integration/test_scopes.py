# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scopes that are not what they should be: processes that are moved out of them, and scopes that systemd has forgotten
although there are processes in their groups (systemd/systemd#36781)."""

import contextlib
import errno
import os
import pathlib
import signal

from checks import QUICK_STOP, nothing_left, talks
from harness import case, eventually, expect, expect_equal
from test_injected import orders_of
from test_session import main_process

# The supervisor reads a file of this name when it looks at its client, and then when it looks for its child.
LOOKS_FOR_ITS_CHILD = ('open cgroup', 2)
DEGRADED = '12676984562545b28d30f223c125b7b8'
ELSEWHERE = pathlib.Path('/sys/fs/cgroup/mcp-case')


def state_of(pid):
    with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as f:
        return f.read().rpartition(')')[2].split()[0]


@contextlib.contextmanager
def held_before_go(world, server):
    """A client whose server's process is in its scope, and the supervisor stopped just before it looks there."""
    with orders_of(server) as orders:
        talks(server.connect()).close()
        nothing_left(server)
        pid = server.supervisor
        function, nth = LOOKS_FOR_ITS_CHILD
        orders.give(function, 0, nth)
        client = server.connect()
        orders.wait()
        eventually(lambda: state_of(pid) == 'T', 'the supervisor stands still')
        try:
            yield client
        finally:
            orders.take_back()
            os.kill(pid, signal.SIGCONT)
        expect_equal(server.supervisor, pid, 'MainPID')


def mounts():
    """Where processes can be in a group: systemd's own hierarchy where there is one, and then cgroup2, whose emptiness
    systemd hears of."""
    with open('/proc/self/mounts', encoding='utf-8') as f:
        found = [line.split()[1:4] for line in f]
    return sorted(
        (pathlib.Path(at) for at, kind, options in found if kind == 'cgroup2' or 'name=systemd' in options),
        key=lambda at: at.name != 'systemd',
    )


def move(pids, groups):
    for group in groups:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                (group / 'cgroup.procs').write_text(str(pid), encoding='ascii')


def members(groups):
    found = set()
    for group in groups:
        with contextlib.suppress(FileNotFoundError, OSError):
            found |= set((group / 'cgroup.procs').read_text(encoding='ascii').split())
    return sorted(found, key=int)


def groups_of(server):
    """In the order of mounts()."""
    found = [pathlib.Path(group) for group in server.cgroups()]
    return [group for mount in mounts() for group in found if group.is_relative_to(mount)]


def names_of(groups):
    return sorted({group.name for group in groups})


def remove(groups):
    """Those that systemd does not know."""
    for group in groups:
        with contextlib.suppress(FileNotFoundError):
            eventually(lambda g=group: not members([g]), lambda g=group: f'still in {g}: {members([g])}')
            group.rmdir()


@contextlib.contextmanager
def elsewhere():
    groups = [mount / 'mcp-case' for mount in mounts()]
    for group in groups:
        group.mkdir(exist_ok=True)
    yield groups
    remove(groups)


def forget_scope(server):
    """systemd takes the scope for empty, collects it, and then its processes are back in a group of that name."""
    groups = groups_of(server)

    def forgotten(refuge):
        move(members(groups), refuge)  # more than once: they may fork
        return not server.scopes() and not any(g.exists() for g in groups)

    with elsewhere() as refuge:
        eventually(lambda: forgotten(refuge), lambda: f'{server.scopes()} is forgotten: {groups_of(server)}')
        for group in groups:
            group.mkdir()
        pids = members(refuge)
        expect(pids, 'no process in the scope')
        move(pids, groups)
        expect_equal(members(groups), pids, 'processes in the group')
    expect_equal(server.scopes(), [], 'scopes')
    return groups


def messages(world, server):
    return [r['MESSAGE'] for r in world.journal(f'MCP_SERVER={server.name}') if 'MESSAGE_ID' in r]


@case(timeout=60)
def a_child_that_is_moved_before_go_gets_another_scope(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    with elsewhere() as refuge:
        with held_before_go(world, server) as client:
            groups = groups_of(server)
            expect_equal(len(members(groups)), 1, 'processes in the scope')
            move(members(groups), refuge)
        talks(client)
        expect_equal(members(refuge), [], 'processes where it was moved to')
        eventually(
            lambda: names_of(groups_of(server)) == server.scopes(),
            lambda: f'scopes {server.scopes()}, but groups {names_of(groups_of(server))}',
        )
        expect(groups[0].name not in server.scopes(), 'it has the scope that it was moved out of')
        client.close()
        nothing_left(server)


@case(timeout=60)
def a_scope_that_is_forgotten_before_go_is_not_used(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    with held_before_go(world, server) as client:
        groups = forget_scope(server)
    talks(client)
    expect(groups[0].name not in server.scopes() and len(server.scopes()) == 1, f'scopes: {server.scopes()}')
    remove(groups)
    client.close()
    nothing_left(server)


@case(timeout=60)
def a_scope_that_is_forgotten_in_mid_session_leaves_nothing(world):
    """The session goes on; at its end nobody but the supervisor is there to end what is in the group."""
    for mode in ('ignore_both', 'daemonize'):
        server = world.fixture(mode, stop=QUICK_STOP)
        client = talks(server.connect())
        groups = forget_scope(server)
        expect_equal(client.call('echo', text='still'), ('still', False), 'echo')
        client.close()
        eventually(lambda: not server.processes(), lambda: f'processes left: {server.processes()}')
        remove(groups)
        nothing_left(server)
        said = messages(world, server)
        expect(any('no longer had the scope' in m for m in said), f'the journal says {said}')
        talks(server.connect()).close()
        nothing_left(server)


@case(timeout=60)
def what_is_in_a_forgotten_scope_goes_when_a_new_supervisor_comes(world):
    server = world.fixture('daemonize', stop=QUICK_STOP)
    client = talks(server.connect())
    groups = forget_scope(server)
    os.kill(server.supervisor, signal.SIGKILL)
    eventually(lambda: not server.processes(), lambda: f'processes left: {server.processes()}')
    remove(groups)
    client.kill()
    talks(server.connect()).close()
    nothing_left(server)


@case(timeout=60)
def a_scope_that_is_stopped_before_its_server_goes_is_no_limit_that_does_not_hold(world):
    """Its files are gone with it, as where a controller is missing."""
    server = world.fixture('honest', stop=QUICK_STOP)
    with held_before_go(world, server) as client:
        (scope,) = server.scopes()
        groups = groups_of(server)
        world.systemctl('stop', scope)
        eventually(lambda: not any(group.exists() for group in groups), 'the end of the scope')
    expect_equal(client.wait(), 69, 'exit status')
    said = client.stderr_text()
    expect('killed before it began' in said and 'MCP-R-START' in said, f'the client is told {said!r}')
    alerts = [e['MESSAGE'] for e in world.journal(f'MCP_SERVER={server.name}', f'MESSAGE_ID={DEGRADED}')]
    expect(not any('does not hold' in alert for alert in alerts), f'the journal has {alerts}')
    nothing_left(server)
    talks(server.connect()).close()
    nothing_left(server)


@case(timeout=60)
def a_scope_that_cannot_be_looked_at_is_no_scope(world):
    """Whether the child is in it is not known, so it is not let go, and its client is told why."""
    server = world.fixture('honest', stop=QUICK_STOP)
    with orders_of(server) as orders:
        talks(server.connect()).close()
        nothing_left(server)
        pid, fds = server.supervisor, server.supervisor_fds()
        for error, words in ((errno.EACCES, 'cannot be found out'), (errno.ENOENT, 'killed before it began')):
            function, nth = LOOKS_FOR_ITS_CHILD
            orders.give(function, error, nth)
            client = server.connect()
            expect_equal(client.wait(), 69, 'exit status')
            said = client.stderr_text()
            expect(words in said and 'MCP-R-START' in said, f'the client is told {said!r}')
            expect(orders.take_back(), 'nobody looked')
            nothing_left(server)
        expect_equal(server.supervisor, pid, 'MainPID')
        talks(server.connect()).close()
        nothing_left(server)
        eventually(lambda: server.supervisor_fds() == fds, lambda: f'{fds} descriptors, but {server.supervisor_fds()}')


@case
def a_server_cannot_leave_its_scope(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    client = talks(server.connect())
    groups = groups_of(server)
    for group in groups:
        for place in (group, group.parent, *mounts()):
            _, failed = client.call('write', path=str(place / 'cgroup.procs'), text='0')
            expect(failed, f'a server could write to {place}/cgroup.procs')
    expect_equal(members(groups), [str(main_process(world, server))], 'processes in the scope')
    client.close()
    nothing_left(server)


@case(timeout=60)
def processes_in_groups_below_the_scope_go_too(world):
    """Whoever may (root in a container, a debugger) can make groups there."""
    for forgotten in (False, True):
        server = world.fixture('ignore_both', stop=QUICK_STOP)
        client = talks(server.connect())
        client.call('spawn', setsid=True)
        groups = forget_scope(server) if forgotten else groups_of(server)
        below = [group / 'a' / 'b' for group in groups]
        for group in below:
            group.mkdir(parents=True)
        move(members(groups)[1:], below)
        expect(members(below), 'no process below')
        client.kill()
        eventually(lambda s=server: not s.processes(), lambda s=server: f'processes left: {s.processes()}', 15)
        for level in (below, [g.parent for g in below], groups):
            remove(level)
        nothing_left(server)
