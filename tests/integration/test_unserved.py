# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where there is no server to be had: who is told why, and how soon."""

import contextlib
import json
import pathlib
import secrets
import select
import signal
import time

from checks import QUICK_STOP, nothing_left, talks
from client import PATIENCE, Closed
from harness import case, eventually, expect, expect_equal
from world import MEMBER, STRANGER

REFUSER = 'mcp-server-unserved@{}.service'


@contextlib.contextmanager
def sealed_for_nobody(world):
    """A server whose service cannot be executed: of its credential only the name is right."""
    if world.kind == 'system':
        file = world.write(
            pathlib.Path('/etc/credstore.encrypted') / 'mcp-case.broken', secrets.token_hex(64), mode=0o600
        )
    else:
        file = world.write(world.home / '.config/credstore/mcp-case.broken', 'text', mode=0o600)
    server = world.fixture('honest', credentials={'TOKEN': 'mcp-case.broken'})
    if world.kind == 'user':  # the drop-in names the file
        file.unlink()
    try:
        yield server
    finally:
        file.unlink(missing_ok=True)


@case(timeout=60)
def a_service_that_cannot_be_executed_is_explained_to_its_clients(world):
    with sealed_for_nobody(world) as server:
        for way in ('connect', 'socket', 'connect'):
            began = time.monotonic()
            client = server.open(way)
            if way == 'connect':
                expect_equal(client.wait(20), 69, 'exit status of mcp-connect')
                said = client.stderr_text()
            else:
                said = json.loads(client.read_line())['error']['message']
            took = time.monotonic() - began
            expect(took < 10 * PATIENCE, f'it took {took:.1f} s over {way}')
            for word in ('CREDENTIALS', '243', 'mcp-case.broken'):
                expect(word in said, f'{word} is not in {said!r}')
        expect_equal(world.property(server.socket_unit, 'ActiveState'), 'active', 'socket')
        said = world.run(['mcpctl', world.flag, 'status', server.name]).stdout
        expect('CREDENTIALS' in said, f'mcpctl status says {said}')
        said = world.run(['mcpctl', world.flag, 'doctor'], timeout=60).stdout
        expect('CREDENTIALS' in said, f'mcpctl doctor says {said}')
        # Nothing is tried without a client, and with many it is tried now and then.
        unit = REFUSER.format(server.name)
        eventually(lambda: world.property(unit, 'ActiveState') == 'inactive', 'the end of the one that refuses')
        before = world.property(server.unit, 'InvocationID')
        time.sleep(2.5)
        expect_equal(world.property(server.unit, 'InvocationID'), before, 'a start that nobody asked for')
        seen = set()
        until = time.monotonic() + 3
        while time.monotonic() < until:
            server.dial().read_line()
            seen.add(world.property(server.unit, 'InvocationID'))
        expect(len(seen) <= 3, f'{len(seen)} starts within 3 s')
    nothing_left(server)


@case(timeout=60)
def mcp_connect_ends_at_once_where_nobody_has_taken_it(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    talks(server.connect()).close()
    world.systemctl('kill', '--kill-whom=main', '--signal=STOP', server.unit)
    try:
        for signum in (signal.SIGTERM, signal.SIGINT):
            client = server.connect()
            time.sleep(0.3)
            expect_equal(client.process.poll(), None, 'mcp-connect that waits')
            began = time.monotonic()
            client.process.send_signal(signum)
            expect_equal(client.wait(5), 128 + signum, 'exit status')
            expect(time.monotonic() - began < 1, 'mcp-connect waited for nobody')
    finally:
        world.systemctl('kill', '--kill-whom=main', '--signal=CONT', server.unit)
    talks(server.connect()).close()
    nothing_left(server)


@case(managers=['system'])
def a_stranger_is_not_told_what_is_wrong(world):
    """The reason names the server's paths; whoever may not connect is not to know them, nor what was refused to others."""
    secret = '/nonexistent/for-members-only'
    server = world.fixture('honest', access={'users': [MEMBER]})
    talks(server.connect()).close()
    server.write({'command': secret, 'access': {'users': [MEMBER]}})
    for restart in (False, True):
        if restart:
            world.systemctl('stop', server.unit)
        else:
            client = talks(server.connect())  # it goes on, so the supervisor does
            world.systemctl('reload', server.unit)
            eventually(lambda: 'cannot be run' in world.property(server.unit, 'StatusText'), 'the end of the reload')
        for user, told in ((STRANGER, False), (MEMBER, True), ('root', True)):
            late = server.connect(user=user)
            status, said = late.wait(), late.stderr_text()
            expect(status != 0, f'{user} has a server')
            expect_equal(secret in said, told, f'{user} is told {said!r}, the path in it')
        line = server.dial(user=STRANGER).read_rest().decode()
        expect(secret not in line and 'access' in line, f'on the socket a stranger is told {line!r}')
        if not restart:
            client.close()
    nothing_left(server)


@case
def who_is_slowed_down_is_told_what_the_server_said_last(world):
    server = world.fixture('exit', '3', 'no key given')
    for _ in range(12):
        client = server.connect()
        if client.wait() != 3:
            break
    said = client.stderr_text()
    for words in ('It is tried again', 'MCP-R-BACKOFF', 'status 3', 'no key given'):
        expect(words in said, f'the client is told {said!r}')

    def told_on_the_socket():
        try:
            return json.loads(server.dial().read_line())['error']['data']
        except Closed:  # the time was over, and it was tried again
            return None

    data = eventually(told_on_the_socket, 'a refusal')
    expect_equal((data['code'], data['stderr']), ('MCP-R-BACKOFF', ['no key given']), 'what is told on the socket')
    nothing_left(server)


def refused(client, code, words):
    expect_equal(client.wait(), 69, 'exit status')
    said = client.stderr_text()
    expect(words in said, f'{code}: the client is told {said!r}')


@case(managers=['system'])
def one_user_cannot_take_all_sessions(world):
    """Nobody has more than are free: of four a user gets two, the next one, and so on."""
    server = world.fixture('honest', access={'users': [MEMBER, STRANGER]}, sessions={'max': 4}, stop=QUICK_STOP)
    mine = [talks(server.connect()) for _ in range(2)]
    refused(server.connect(), 'MCP-R-SHARE', 'You have 2 of the 4 sessions')
    line = json.loads(server.dial().read_line())
    expect_equal(line['error']['data']['code'], 'MCP-R-SHARE', 'code on the socket')
    talks(server.connect(user=STRANGER))
    refused(server.connect(user=STRANGER), 'MCP-R-SHARE', 'You have 1 of the 4 sessions')
    talks(server.connect(user='root'))
    refused(server.connect(user='root'), 'MCP-R-BUSY', 'has 4 sessions')
    mine.pop().close()
    eventually(lambda: len(server.scopes()) == 3, 'the end of a session')
    refused(server.connect(), 'MCP-R-SHARE', 'You have 1 of the 4 sessions')
    alone = world.fixture('honest', access={'users': [MEMBER]}, sessions={'max': 3})
    for _ in range(3):
        talks(alone.connect())


@case(managers=['system'])
def who_says_nothing_leaves_room_for_others(world):
    server = world.fixture('honest', access={'users': [MEMBER, STRANGER]})
    talks(server.connect()).close()
    silent = [server.control_socket() for _ in range(40)]
    refused_ones = eventually(
        lambda: [c for c in silent if select.select([c], [], [], 0)[0]], 'an answer to those who are too many'
    )
    code = json.loads(refused_ones[0].recv(1 << 16))['code']
    expect_equal(code, 'MCP-R-SHARE', 'code')
    expect_equal(sum(not select.select([c], [], [], 0.05)[0] for c in silent), 32, 'who still waits')
    talks(server.connect(user=STRANGER)).close()
    for connection in silent:
        connection.close()
    talks(server.connect()).close()
    nothing_left(server)


@case(managers=['system'])
def one_users_failures_are_not_held_against_another(world):
    server = world.fixture('exit', '3', 'no key given', access={'users': [MEMBER, STRANGER]})
    for _ in range(12):
        client = server.connect()
        if client.wait() != 3:
            break
    refused(client, 'MCP-R-BACKOFF', 'It is tried again')
    expect_equal(server.connect(user=STRANGER).wait(), 3, "exit status of the stranger's own server")
    nothing_left(server)


@case
def a_kill_without_a_time_to_wait_is_told_only_where_one_was_needed(world):
    """stop.kill_after 0: SIGKILL follows SIGTERM at once."""
    killed = {}
    for mode in ('honest', 'ignore_both'):
        server = world.fixture(mode, stop={'eof_grace': '300ms', 'kill_after': 0})
        talks(server.connect()).close()
        nothing_left(server)
        eventually(lambda: any('ended: ' in r['MESSAGE'] for r in world.journal(f'MCP_SERVER={server.name}')), 'an end')
        killed[mode] = [
            r['MESSAGE'] for r in world.journal(f'MCP_SERVER={server.name}') if 'was killed' in r['MESSAGE']
        ]
    expect_equal(killed['honest'], [], 'kills of a server that leaves at EOF')
    expect(len(killed['ignore_both']) == 1 and 'kill_after is 0' in killed['ignore_both'][0], f'the journal says {killed}')
