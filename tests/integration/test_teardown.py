# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nothing of a server is left, whatever it does and however it ends."""

import contextlib
import json
import os
import socket
import time

from checks import ENDS, QUICK_STOP, SESSION_STARTED, WAYS, nothing_left, talks, zombies_of
from client import Closed
from harness import case, eventually, expect, expect_equal
from world import FIXTURES

SERVER = f'/usr/bin/python3 -ISB {FIXTURES}/server.py'

# Modes of the fixture that hold on to life in one way each.
STUBBORN = ('ignore_eof', 'ignore_term', 'ignore_both', 'daemonize', 'spin', 'fork_loop')

# The shapes in which npx and its like start servers: EOF or signals get lost on the way.
WRAPPERS = {
    'npx': f'sh -c "sleep 1000 & exec {SERVER} honest"; :',
    'eof_swallowed': f'sleep 1000 <&0 & {SERVER} ignore_eof; :',
    'background': f'exec 3<&0; {SERVER} ignore_both <&3 & wait',
}


def close_leaves_nothing(server):
    for way in WAYS:
        client = talks(server.open(way))
        expect(server.processes(), 'the server has no process that can be found')
        client.close()
        nothing_left(server)
    expect_equal(server.world.property(server.unit, 'ActiveState'), 'active', 'supervisor')


def stubborn_case(mode):
    def run(world):
        close_leaves_nothing(world.fixture(mode, stop=QUICK_STOP))

    run.__name__ = f'close ends a server that does {mode}'
    run.__module__ = __name__
    case(run)


def wrapper_case(name, script):
    def run(world):
        close_leaves_nothing(
            world.define({'command': '/bin/sh', 'args': ['-c', script], 'stop': QUICK_STOP})
        )

    run.__name__ = f'close ends a server behind the wrapper {name}'
    run.__module__ = __name__
    case(run)


def end_case(name, mode):
    def run(world):
        server = world.fixture(mode, stop=QUICK_STOP)
        for way in WAYS:
            client = talks(server.open(way))
            ENDS[name](server, client)
            nothing_left(server)
            client.kill()
            eventually(
                lambda: world.property(server.socket_unit, 'ActiveState') == 'active', 'the socket stays'
            )
        talks(server.connect(), 'after the end')

    run.__name__ = f'{name} ends a server that is {mode}'
    run.__module__ = __name__
    case(timeout=60)(run)


for _mode in STUBBORN:
    stubborn_case(_mode)
for _name, _script in WRAPPERS.items():
    wrapper_case(_name, _script)
for _end in ENDS:
    for _mode in ('honest', 'ignore_both', 'daemonize'):
        end_case(_end, _mode)


@case
def a_stopped_server_is_ended(world):
    server = world.fixture('stop_self', stop=QUICK_STOP)
    for way in WAYS:
        client = server.open(way)
        client.initialize()
        client.kill()
        nothing_left(server)


@case
def what_a_dying_server_leaves_behind_goes_too(world):
    """The main process exits by itself; its children in other sessions would stay for ever."""
    server = world.fixture('honest', stop=QUICK_STOP)
    for way in WAYS:
        client = talks(server.open(way))
        client.call('spawn')
        client.call('spawn', setsid=True)
        eventually(lambda: len(server.processes()) >= 3, 'the children run')
        client.send(
            {
                'jsonrpc': '2.0',
                'id': 7,
                'method': 'tools/call',
                'params': {'name': 'exit', 'arguments': {'status': 0}},
            }
        )
        client.read_rest()
        nothing_left(server)


@case(timeout=40)
def a_server_gets_its_time_to_flush(world):
    directory = world.directory('flush')
    for way in WAYS:
        target = directory / way
        server = world.fixture('flush', str(target), '3', isolation={'write': [str(directory)]})
        client = talks(server.open(way))
        client.close()
        eventually(target.exists, f'{target} written after EOF over {way}')
        expect_equal(target.read_text(encoding='utf-8'), 'flushed', 'content')
        nothing_left(server)


@case(timeout=60)
def a_server_gets_its_time_to_flush_when_its_service_is_stopped(world):
    """systemd has the stop of a service stop what is bound to it as well, and not at once."""
    directory = world.directory('flush-at-stop')
    for what in ('stop', 'restart', 'stop of the slice'):
        target = directory / what
        server = world.fixture('flush', str(target), '1', isolation={'write': [str(directory)]})
        client = talks(server.dial())
        world.systemctl(what.split()[0], 'mcp.slice' if 'slice' in what else server.unit)
        expect(target.exists(), f'{what}: it was ended before it had written')
        expect_equal(target.read_text(encoding='utf-8'), 'flushed', 'content')
        nothing_left(server)
        client.kill()
        said = [r['MESSAGE'] for r in world.journal(f'MCP_SERVER={server.name}') if 'ended' in r['MESSAGE']]
        expect(len(said) == 1 and 'it was to stop (exit status 0)' in said[0], f'{what}: the journal says {said}')


@case
def a_requested_stop_is_no_failure(world):
    server = world.fixture('ignore_eof', stop=QUICK_STOP)
    talks(server.connect())
    world.systemctl('stop', server.unit)
    nothing_left(server)
    expect_equal(world.property(server.unit, 'ActiveState'), 'inactive', 'ActiveState')
    expect_equal(world.property(server.unit, 'Result'), 'success', 'Result')
    said = world.property(server.unit, 'StatusText')
    expect(said.startswith('0 sessions'), f'the status of what was stopped is {said!r}')


@case
def a_server_that_closes_its_stdout_ends_with_its_client(world):
    """On the raw stream stdin is the same socket, so its client cannot see that stdout was closed."""
    server = world.fixture('close_stdout', stop=QUICK_STOP)
    for way in WAYS:
        client = server.open(way)
        if way == 'connect':
            client.read_rest()
        client.close()
        nothing_left(server)


@case(timeout=90)
def fifty_sessions_leave_no_descriptor_and_no_zombie(world):
    server = world.fixture('honest')
    talks(server.connect()).close()
    nothing_left(server)
    before = eventually(server.supervisor_fds, 'the supervisor runs')
    for number in range(50):
        client = server.open(WAYS[number % 2])
        client.initialize()
        (client.kill if number % 3 else client.close)()
    nothing_left(server, 20)
    eventually(
        lambda: server.supervisor_fds() == before,
        lambda: f'{before} descriptors, but {server.supervisor_fds()}',
    )
    expect_equal(zombies_of(server.supervisor), [], 'zombies')


@case(timeout=90)
def a_server_that_always_fails_leaves_the_socket_up(world):
    server = world.fixture('exit', '1', 'no key given')
    for number in range(100):
        client = server.open(WAYS[number % 2])
        if number % 10 == 0:
            client.read_rest(20)
        client.kill()
    expect_equal(world.property(server.socket_unit, 'ActiveState'), 'active', 'socket')
    expect(world.property(server.unit, 'ActiveState') in ('active', 'activating'), 'the supervisor gave up')
    nothing_left(server, 20)
    last = server.connect()
    expect(last.wait(20) != 0, 'mcp-connect says that all is well')
    starts = world.journal(f'MCP_SERVER={server.name}', f'MESSAGE_ID={SESSION_STARTED}')
    expect(len(starts) < 20, f'{len(starts)} of 101 clients had the server started for them')


@case
def clients_that_say_nothing_are_let_go(world):
    server = world.fixture('honest')
    for way in WAYS:
        client = server.open(way)
        time.sleep(0.3)
        client.kill()
    connection = server.control_socket()
    time.sleep(0.2)
    connection.close()
    nothing_left(server)
    talks(server.connect())


BAD_HELLOS = {
    'empty object': (b'{}', 3),
    'no JSON': (b'\xff\x00garbage', 3),
    'another version': (b'{"version":99,"client":"x"}', 3),
    'no descriptors': (b'{"version":1,"client":"x","env":{}}', 0),
    'two descriptors': (b'{"version":1,"client":"x","env":{}}', 2),
    'fifty descriptors': (b'{"version":1,"client":"x","env":{}}', 50),
    'too long': (b'{"version":1,"client":"' + b'x' * 70000 + b'"}', 3),
    'deep': (b'[' * 30000, 3),
}


def answer_to(connection, name):
    """A refusal, or b'' where the supervisor just hung up."""
    try:
        return connection.recv(1 << 16)
    except TimeoutError:
        raise AssertionError(f'{name}: neither refused nor hung up on') from None


@case(timeout=60)
def control_messages_that_make_no_sense_cost_nothing(world):
    server = world.fixture('honest')
    talks(server.connect()).close()
    nothing_left(server)
    before = eventually(server.supervisor_fds, 'the supervisor runs')
    for name, (text, count) in BAD_HELLOS.items():
        connection = server.control_socket()
        null = [os.open('/dev/null', os.O_RDWR) for _ in range(count)]
        socket.send_fds(connection, [text], null)
        for fd in null:
            os.close(fd)
        answer = answer_to(connection, name)
        if answer:
            expect_equal(json.loads(answer)['state'], 'refused', f'answer to {name}')
        connection.close()
    nothing_left(server)
    eventually(
        lambda: server.supervisor_fds() == before,
        lambda: f'{before} descriptors, but {server.supervisor_fds()}',
    )
    talks(server.connect())


@case(timeout=90)
def a_restart_in_the_middle_of_a_burst_waits_for_nothing(world):
    """Some have their servers, of some the scope is being started, some wait in the queue for the next supervisor."""
    server = world.fixture('honest', stop=QUICK_STOP, sessions={'max': 20})
    talks(server.connect()).close()
    nothing_left(server)
    for pause in (0.0, 0.02, 0.06, 0.15):
        clients = [server.open(WAYS[n % 2]) for n in range(8)]
        time.sleep(pause)
        began = time.monotonic()
        world.systemctl('restart', server.unit)
        took = time.monotonic() - began
        expect(took < 12, f'after {pause} s it took {took:.1f} s, which is somebody waiting for somebody')
        for client in clients:
            with contextlib.suppress(Closed, OSError, KeyError):
                client.initialize()
            client.close()
        nothing_left(server)
    talks(server.connect()).close()
    nothing_left(server)
