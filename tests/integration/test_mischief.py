# SPDX-License-Identifier: LGPL-2.1-or-later
"""More of what nobody would do: clients that die at the worst moment, servers that say what cannot be said, units and
files that change under them."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import time

from checks import QUICK_STOP, WAYS, nothing_left, talks
from client import Closed
from harness import case, eventually, expect, expect_equal
from test_breaking import HELLO, answer, say_hello, states, unimpressed
from test_faults import member_manager, still_talks
from test_scopes import held_before_go

# -- clients -----------------------------------------------------------------------


@case(timeout=60)
def a_client_that_dies_between_hello_and_go(world):
    """Its server has a scope and nothing to do in it."""
    server = world.fixture('ignore_both', stop=QUICK_STOP)
    with held_before_go(world, server) as client:
        client.kill()
    nothing_left(server)
    talks(server.connect()).close()
    nothing_left(server)


@case(timeout=60)
def a_stop_between_hello_and_go(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    with held_before_go(world, server) as client:
        (scope,) = server.scopes()
        world.systemctl('stop', '--no-block', scope)
        world.systemctl('daemon-reload')
    with contextlib.suppress(Closed, BrokenPipeError):
        client.initialize()
    client.kill()
    nothing_left(server)
    world.systemctl('reload', server.unit)
    eventually(lambda: server.connect().close() == 0, 'a session afterwards')
    nothing_left(server)


@case
def as_many_descriptors_as_a_message_takes(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    with unimpressed(server), open('/dev/null', 'r+b') as null:
        for count in (253, 252, 17, 16, 4):
            connection = say_hello(server, [null.fileno()] * count)
            said = [(s['state'], s['code']) for s in states(connection)]
            expect_equal(said, [('refused', 'MCP-R-HELLO')], f'answer to {count} descriptors')
            connection.close()


@case
def the_control_connection_sits_in_a_queue(world):
    """It is open only in a message that nobody receives, in a socket that is in the message itself."""
    server = world.fixture('ignore_both', stop=QUICK_STOP)
    with unimpressed(server):
        for _ in range(3):
            ours, theirs = socket.socketpair()
            connection = say_hello(server, [theirs.fileno()] * 3)
            theirs.close()
            expect(b'"result"' in answer(ours), 'the server answers')
            queue, end_of_queue = socket.socketpair()
            socket.send_fds(queue, [b'x'], [connection.fileno(), ours.fileno(), queue.fileno(), end_of_queue.fileno()])
            for s in (connection, ours, queue, end_of_queue):
                s.close()


@case(timeout=60)
def packets_of_one_byte_from_hundreds(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    running = talks(server.connect())
    for _ in range(10):
        with contextlib.ExitStack() as stack:
            for byte in HELLO[:30]:
                connection = stack.enter_context(server.control_socket())
                with contextlib.suppress(OSError):
                    connection.send(bytes([byte]))
    still_talks(running)
    running.close()
    nothing_left(server)
    with unimpressed(server):
        pass


# -- servers -------------------------------------------------------------------------


@case
def arguments_that_the_kernel_does_not_take_are_told(world):
    """One is at most 128 KiB (MAX_ARG_STRLEN); all together have a limit as well."""
    for args in (['x' * 200000], ['y' * 100000] * 9 + ['z' * 120000] * 2):
        server = world.define({'command': '/bin/true', 'args': args, 'stop': QUICK_STOP})
        client = server.connect()
        status, said = client.wait(20), client.stderr_text()
        if len(args) == 1:
            expect(status == 126 and 'rgument list too long' in said, f'exit status {status}, the client is told {said[:500]!r}')
        expect(len(said) < 8192, f'the client is told {len(said)} bytes')
        nothing_left(server)


RAW = b'nul\0inside\n\xff\xfe\xc3( no UTF-8\n\x1b[31mred\x07\n<0>emergency\n' + 'ä€😀'.encode() * 30000 + b'\nthe last'


@case(timeout=60)
def what_cannot_be_printed_on_stderr_is_harmless(world):
    """NUL, bytes that are no UTF-8, escape sequences, priorities, and a line of 270 KB with characters of many bytes."""
    path = world.directory('stderr') / 'raw'
    path.write_bytes(RAW)
    path.chmod(0o644)
    server = world.define(
        {'command': '/bin/sh', 'args': ['-c', f'cat {path} >&2; exec cat'], 'stop': QUICK_STOP}
    )
    client = server.connect()
    client.send_bytes(b'through\n')
    expect_equal(client.read_line(), b'through', 'what cat gives back')
    client.close()
    nothing_left(server)

    def records():
        return world.journal(f'SYSLOG_IDENTIFIER=mcp-{server.name}')

    eventually(lambda: any(r['MESSAGE'] == 'the last' for r in records()), 'the last line')
    found = records()
    texts = [r['MESSAGE'] for r in found]
    expect(all(isinstance(text, str) for text in texts), 'a record that is not text')
    expect(not any(c in text for text in texts for c in '\x1b\x07\0'), 'a control character')
    expect('emergency' in texts and all(int(r['PRIORITY']) >= 3 for r in found), 'an emergency')
    expect({'nul', 'inside'} <= set(texts), f'what is around NUL is not among {[t[:40] for t in texts]}')
    long = [text for text in texts if text.startswith(('ä', '€', '😀'))]
    expect_equal(''.join(long), 'ä€😀' * 30000, 'the long line, put together')


@case(timeout=90)
def ten_thousand_files_and_sockets_of_a_server(world):
    """In its state directory, which the manager gives to its user at each start."""
    script = (
        'import os, socket\n'
        'for i in range(10000): open(f"f{i}", "w").close()\n'
        'for i in range(200): os.mkfifo(f"p{i}")\n'
        'print("made", flush=True)\n'
        'input()'
    )
    server = world.define({'command': '/usr/bin/python3', 'args': ['-ISBc', script], 'stop': QUICK_STOP})
    client = server.connect()
    expect_equal(client.read_line(30), b'made', 'what it says')
    client.close()
    nothing_left(server)
    server.write({'command': '/bin/cat', 'stop': QUICK_STOP})
    world.reload()
    world.systemctl('restart', server.unit, timeout=30)
    client = server.connect()
    client.send_bytes(b'again\n')
    expect_equal(client.read_line(20), b'again', 'what cat gives back')
    client.close()
    nothing_left(server)


# -- what is around them ---------------------------------------------------------------


@case(timeout=60)
def a_definition_that_is_wrong_and_then_right_again(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    old, right = talks(server.connect()), server.definition
    for wrong in ({'command': 7}, {**right, 'limits': {'memroy': '1G'}}, {**right, 'command': '/nonexistent/program'}):
        server.write(wrong)
        world.reload()
        world.systemctl('reload', server.unit, check=False)
        status = eventually(lambda: server.connect().wait(), 'a refusal')
        expect(status in (2, 127), f'exit status {status} of a client of {wrong}')
        still_talks(old)
    server.write(right)
    world.reload()
    world.systemctl('reload', server.unit)
    eventually(lambda: server.connect().close() == 0, 'a session')
    still_talks(old)
    old.close()
    nothing_left(server)


@case(timeout=60)
def a_journald_that_restarts_during_a_flood(world):
    server = world.fixture('flood_stderr', str(4 << 20), stop=QUICK_STOP)
    clients = [server.open(way) for way in WAYS]
    for _ in range(3):
        subprocess.run(['systemctl', 'restart', 'systemd-journald.service'], check=True, timeout=30)
    for client in clients:
        talks(client)
    for client in clients:
        client.close()
    with unimpressed(server):
        pass


@case(managers=['user'], timeout=90)
def a_users_manager_that_restarts(world):
    server = world.fixture('ignore_both', stop=QUICK_STOP)
    clients = [talks(server.open(way)) for way in WAYS]
    member_manager('restart')
    eventually(lambda: not server.processes(), lambda: f'processes left: {server.processes()}', 20)
    for client in clients:
        client.read_rest()
        client.kill()
    world.systemctl('start', server.socket_unit)
    talks(server.connect()).close()
    nothing_left(server)


@case(timeout=60)
def sockets_that_somebody_deletes(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    running = talks(server.connect())
    server.control.unlink()
    client = server.connect()
    expect_equal(client.wait(), 69, 'exit status')
    expect(server.name in client.stderr_text(), 'the client is not told which server')
    still_talks(running)
    world.systemctl('restart', server.socket_unit)
    running.read_rest()
    nothing_left(server)
    talks(server.connect()).close()
    nothing_left(server)


@case(timeout=60)
def a_supervisor_that_stands_still_while_clients_come_and_go(world):
    server = world.fixture('honest', stop=QUICK_STOP, sessions={'max': 30})
    with unimpressed(server) as pid:
        running = talks(server.connect())
        world.systemctl('kill', '--kill-whom=main', '--signal=STOP', server.unit)
        try:
            still_talks(running)
            come = [server.open(WAYS[number % 2]) for number in range(20)]
            for client in come[::2]:
                client.kill()
            running.close_input()
            time.sleep(0.5)
        finally:
            os.kill(pid, signal.SIGCONT)
        for client in come[1::2]:
            talks(client).close()
        expect_equal(running.wait(), 0, 'exit status')


@case(timeout=60)
def a_session_that_is_stopped_by_all_at_once(world):
    """Its client goes, its scope is stopped and killed, and its service as well."""
    server = world.fixture('daemonize', stop=QUICK_STOP)
    for way in WAYS:
        client = talks(server.open(way))
        (scope,) = server.scopes()
        jobs = [
            world.popen(['systemctl', world.flag, *args], stderr=subprocess.DEVNULL)
            for args in (('stop', scope), ('kill', '--signal=KILL', scope), ('stop', server.unit), ('reload', server.unit))
        ]
        client.kill()
        for job in jobs:
            job.wait(30)
        nothing_left(server)
        talks(server.connect()).close()
        nothing_left(server)


def statuses(server, number):
    clients = [server.connect() for _ in range(number)]
    return [json.dumps(client.close(30)) for client in clients]


@case(timeout=120)
def clients_come_while_the_service_is_stopped_again_and_again(world):
    server = world.fixture('honest', stop=QUICK_STOP, sessions={'max': 30})
    script = f'for i in 1 2 3 4 5; do systemctl {world.flag} stop {server.unit} 2>/dev/null; sleep 0.2; done'
    storm = world.popen(['sh', '-c', script])
    told = statuses(server, 10) + statuses(server, 10)
    expect_equal(storm.wait(60), 0, 'the storm')
    expect(set(told) <= {'0', '69', '143'}, f'exit statuses: {told}')
    nothing_left(server, 20)
    expect_equal(world.property(server.socket_unit, 'ActiveState'), 'active', 'socket')
    talks(server.connect()).close()
    nothing_left(server)
