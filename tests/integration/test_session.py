# SPDX-License-Identifier: LGPL-2.1-or-later
"""One session: what the client and the child get."""

import json
import os
import re
import select
import signal
import time

from checks import (
    QUICK_STOP, SESSION_STARTED, WAYS, asked, nothing_left, rss_kib, talks, talks_at_last, traced
)  # fmt: skip
from client import PATIENCE, Closed
from harness import case, eventually, expect, expect_equal
from world import MEMBER, ids_of, landlock_abi

MIB = 1 << 20


@case
def both_ways_in_reach_the_server(world):
    server = world.fixture('honest')
    for way in WAYS:
        talks(server.open(way), way)


@case
def the_child_is_in_a_scope_of_its_own_in_mcp_slice(world):
    server = world.fixture('honest', sessions={'max': 4})
    cgroups = set()
    for way in WAYS * 2:
        where = json.loads(talks(server.open(way)).call('where')[0])
        cgroup = next(line[3:] for line in where['cgroup'].splitlines() if line.startswith('0::'))
        expect(
            re.search(rf'/mcp\.slice/mcp-{server.name}-[0-9a-f]{{16}}\.scope$', cgroup),
            f'the child is in {cgroup}',
        )
        cgroups.add(cgroup)
    expect_equal(len(cgroups), 4, 'scopes')
    expect_equal(len(server.scopes()), 4, 'scopes that systemd knows')


@case
def a_session_loads_one_filter_and_makes_one_rule_for_each_path(world):
    """Neither compiled nor probed again: all that a session asks the kernel for is what its plan says."""
    ports = {'connect': [80, 443], 'bind': [8080]}
    grants = [{'path': str(world.directory(f'granted-{n}')), 'access': 'readwrite'} for n in range(5)]
    manifest = {'version': '0.1.0', 'filesystem': {'grants': grants}, 'network': {'mode': 'blocked', 'ports': ports}}
    isolation = {'manifest': manifest, 'enforcement': 'best-effort'}
    server = world.fixture('honest', isolation=isolation, sessions={'max': 4})
    talks(server.connect())
    plan = asked(world, 'show', server)[0]['plan']
    # As the supervisor sees them, whose /tmp may be its own.
    root = f'/proc/{server.supervisor}/root'
    rules = [rule for rule in plan['files']['rules'] if os.path.exists(root + rule['path'])]
    expect(len(rules) > len(grants), f'the plan has {len(rules)} rules')
    for way in WAYS:
        with traced([server.supervisor]) as end:
            talks(server.open(way))
            lines = end()
        for word, wanted in (
            ('landlock_create_ruleset(', 1),
            ('landlock_add_rule(', len(rules) + 3 * (landlock_abi() >= 4)),
            ('landlock_restrict_self(', 1),
            ('prctl(PR_SET_SECCOMP', 1),
            ('libseccomp', 0),
            ('memfd_create(', 0),
        ):
            expect_equal(sum(word in line for line in lines), wanted, f'lines with {word} over {way}')


def left_out_of_children(pid):
    """Of a process's mappings by name: which of them fork() leaves out ("dc": proc(5), VmFlags)."""
    found, name = {}, None
    with open(f'/proc/{pid}/smaps', encoding='utf-8') as f:
        for line in f:
            words = line.split()
            if re.match(r'[0-9a-f]+-[0-9a-f]+ ', line):
                name = os.path.basename(words[5]) if len(words) > 5 else ''
            elif words[0] == 'VmFlags:':
                found.setdefault(name.partition('.so')[0], set()).add('dc' in words)
    return found


@case
def a_child_goes_without_what_the_loop_alone_uses(world):
    """Its memory is what a start costs most; and what is not there cannot be read."""
    server = world.fixture('honest', sessions={'max': 4})
    talks(server.connect())
    for reload in (False, True):
        if reload:
            # Who may connect is looked up anew, by a child that needs all of it.
            world.systemctl('reload', server.unit)
            talks(server.dial())
        found = left_out_of_children(server.supervisor)
        for name in ('libsystemd', 'libjson-c', '[heap]'):
            expect_equal(found[name], {True}, f'{name} is left out')
        for name in ('libc', 'mcp-supervisor', '[stack]'):
            expect_equal(found[name], {False}, f'{name} is left out')


@case
def the_child_has_three_descriptors_and_a_session_of_its_own(world):
    server = world.fixture('honest')
    for way in WAYS:
        where = json.loads(talks(server.open(way)).call('where')[0])
        # Listing /proc/self/fd opens one more.
        expect_equal(where['fds'], [0, 1, 2, 3], f'descriptors over {way}')
        expect_equal(where['sid'], where['pid'], 'session id')


def status_of(client):
    """/proc/self/status of the server."""
    return dict(line.split(':\t', 1) for line in client.call('status')[0].splitlines() if ':\t' in line)


@case(managers=['system'])
def a_named_user_has_its_primary_group_alone(world):
    uid, gid, groups = ids_of(MEMBER)
    expect(set(groups) - {gid}, f'{MEMBER} is in no other group, so nothing is tested')
    server = world.fixture('honest', user=MEMBER)
    for way in WAYS:
        status = status_of(talks(server.open(way)))
        expect_equal(set(status['Uid'].split()), {str(uid)}, f'uids over {way}')
        expect_equal(set(status['Gid'].split()), {str(gid)}, f'gids over {way}')
        expect_equal(status['Groups'].split(), [], f'other groups over {way}')


@case
def the_child_has_no_privileges_and_can_gain_none(world):
    status = status_of(talks(world.fixture('honest').connect()))
    uids = {int(uid) for uid in status['Uid'].split()}
    expect_equal(len(uids), 1, 'distinct uids')
    expect(0 not in uids, 'the child runs as root')
    expect_equal(status['NoNewPrivs'].strip(), '1', 'NoNewPrivs')
    expect_equal(status['Seccomp'].strip(), '2', 'Seccomp')
    for name in ('CapInh', 'CapPrm', 'CapEff', 'CapAmb'):
        expect_equal(int(status[name], 16), 0, name)


@case
def the_environment_is_extended_and_holds_nothing_of_ours(world):
    server = world.fixture('honest', env={'ADDED': '1'}, sessions={'accept_env': ['PASSED']})
    client = talks(
        server.connect(
            '--env', 'PASSED', env={'PASSED': 'yes', 'NOT_PASSED': 'no', 'SSH_AUTH_SOCK': '/run/agent'}
        )
    )
    env = json.loads(client.call('environment')[0])
    expect_equal(env.get('ADDED'), '1', 'env of the definition')
    expect('PATH' in env and 'HOME' in env, f'PATH and HOME are gone: {sorted(env)}')
    expect_equal(env.get('PASSED'), 'yes', 'accepted variable')
    unwanted = {
        'NOT_PASSED',
        'SSH_AUTH_SOCK',
        'DBUS_SESSION_BUS_ADDRESS',
        'DOCKER_HOST',
        'NOTIFY_SOCKET',
        'LISTEN_FDS',
        'LISTEN_PID',
        'WATCHDOG_USEC',
        'INVOCATION_ID',
        'JOURNAL_STREAM',
        'LD_BIND_NOW',
    } & set(env)
    expect(not unwanted, f'the child was given {unwanted}')


@case
def a_variable_that_is_not_accepted_is_refused_by_name(world):
    server = world.fixture('honest', sessions={'accept_env': ['PASSED']})
    client = server.connect('--env', 'PASSED', '--env', 'OTHER', env={'PASSED': 'yes', 'OTHER': 'no'})
    expect_equal(client.wait(), 69, 'exit status')
    told = client.stderr_text()
    expect('OTHER' in told and 'accept_env' in told, f'the client was told: {told!r}')


@case(timeout=90)
def sixteen_mib_both_ways(world):
    server = world.fixture('honest')
    for way in WAYS:
        client = server.open(way)
        client.initialize()
        text, failed = client.call('echo', timeout=60, text='m' * (16 * MIB))
        expect(
            not failed and len(text) == 16 * MIB and text.count('m') == len(text),
            f'the message did not survive {way}',
        )


def drain(client, size):
    """Reads so many bytes and keeps none; the number of those that came."""
    got = len(client.buffer)
    client.buffer.clear()
    while got < size:
        select.select([client.reader], [], [])
        chunk = os.read(client.reader, 1 << 20)
        if not chunk:
            break
        got += len(chunk)
    return got


@case(timeout=120)
def no_newline_costs_no_memory(world):
    """On stdout no byte passes through us; of stderr lines are made, and one without an end is cut."""
    for fd, size in ((1, 64 * MIB), (2, 16 * MIB)):
        server = world.fixture('endless', str(fd), str(size))
        for way in WAYS:
            client = server.open(way)
            client.initialize()
            ours = [server.supervisor, *([client.process.pid] if way == 'connect' else [])]
            before = [rss_kib(pid) for pid in ours]
            if fd == 1:
                expect_equal(drain(client, size + 1), size + 1, f'bytes over {way}')
            expect_equal(client.call('echo', timeout=60, text='after'), ('after', False), 'echo')
            for pid, rss in zip(ours, before):
                now = rss_kib(pid)
                expect(now <= rss + 8192, f'{size // MIB} MiB to descriptor {fd} over {way}: from {rss} to {now} KiB')
            client.close()


@case
def every_byte_passes_as_it_is(world):
    data = bytes(range(256)) * 4096 + 'ä€😀'.encode() + b'\xff\xfe no newline at the end'
    server = world.fixture('cat')
    for way in WAYS:
        client = server.open(way)
        client.send_bytes(data)
        client.close_input()
        expect(client.read_rest() == data, f'bytes changed over {way}')


@case(timeout=60)
def twenty_clients_at_once(world):
    server = world.fixture('honest', sessions={'max': 20})
    clients = [server.open(WAYS[i % 2]) for i in range(20)]
    for number, client in enumerate(clients):
        talks(client, f'client {number}')
    expect_equal(len(server.scopes()), 20, 'scopes')
    for client in clients:
        client.close()
    nothing_left(server, 20)


@case
def one_client_too_many_is_told_why(world):
    server = world.fixture('honest', sessions={'max': 2})
    talks(server.connect())
    talks(server.dial())
    refused = server.connect()
    expect_equal(refused.wait(), 69, 'exit status of mcp-connect')
    reason = refused.stderr_text()
    expect('2' in reason and 'session' in reason.lower(), f'the reason is not told: {reason!r}')
    line = json.loads(server.dial().read_line())
    expect_equal((line['jsonrpc'], line['id']), ('2.0', None), 'error line')
    expect('session' in line['error']['message'].lower(), f'the reason is not told: {line}')


@case
def room_is_free_again_when_a_client_went(world):
    server = world.fixture('honest', sessions={'max': 1})
    for _ in range(3):
        client = talks(server.connect())
        expect_equal(client.close(), 0, 'exit status after EOF')
        nothing_left(server)


@case(timeout=60)
def exit_statuses_are_told_faithfully(world):
    for status in (0, 1, 7, 126, 255):
        client = world.fixture('exit', str(status)).connect()
        expect_equal(client.wait(), status, 'exit status of mcp-connect')


@case
def signals_are_told_as_128_and_their_number(world):
    for signum in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
        client = world.fixture('kill_self', str(int(signum))).connect()
        client.request('ping')
        expect_equal(client.wait(), 128 + signum, 'exit status of mcp-connect')


@case
def the_last_bytes_before_the_end_arrive(world):
    for size in (10, 3 * MIB):
        for way in WAYS:
            # Each its own: one that ends right after its start is not started anew at once.
            client = world.fixture('last_bytes', str(size), '3').open(way)
            got = client.read_rest()
            expect_equal(len(got), size, f'bytes over {way}')
            if way == 'connect':
                expect_equal(client.wait(), 3, 'exit status')


def main_process(world, server):
    """Of the session that began last."""
    started = world.journal(f'MCP_SERVER={server.name}', f'MESSAGE_ID={SESSION_STARTED}')
    return int(started[-1]['MCP_PID'])


@case(timeout=60)
def the_client_sees_its_servers_death_at_once(world):
    """The promise is 100 ms; of three tries one must keep it, since the machine has other work to do.  Where a daemon of the
    server holds its stdout, the end is that of mcp-connect, or of the connection."""
    for mode in ('honest', 'daemonize'):
        server = world.fixture(mode, stop=QUICK_STOP)
        for way in WAYS:
            took = []
            for _ in range(3):
                client = talks_at_last(server, way)
                pid = main_process(world, server)
                killed = time.monotonic()
                os.kill(pid, signal.SIGKILL)
                if mode == 'honest' or way == 'socket':
                    client.read_rest()
                else:
                    client.wait()
                took.append(time.monotonic() - killed)
                client.close()
                nothing_left(server)
            print(f'#   {mode} over {way}: {", ".join(f"{t * 1000:.1f}" for t in took)} ms')
            expect(min(took) < 0.1 * PATIENCE, f'{mode}: over {way} the end was seen after {min(took) * 1000:.0f} ms')


@case
def a_server_that_died_during_a_request_is_told_in_the_status(world):
    server = world.fixture('silent')
    for way in WAYS:
        client = server.open(way)
        client.send({'jsonrpc': '2.0', 'id': 1, 'method': 'ping'})
        for pid in eventually(server.processes, 'the server runs'):
            os.kill(pid, signal.SIGKILL)
        expect_equal(client.read_rest(), b'', 'an answer')
        client.kill()
        nothing_left(server)
        eventually(
            lambda: 'killed by SIGKILL' in world.property(server.unit, 'StatusText'),
            lambda: f'the reason in {world.property(server.unit, "StatusText")!r}',
        )
        shown = ' '.join(world.run(['mcpctl', world.flag, 'status', server.name]).stdout.split())
        expect('killed by SIGKILL' in shown, f'mcpctl status says {shown}')
        time.sleep(0.5)  # the back-off of one failure is 100 ms


@case
def a_client_may_close_its_side_and_still_read_the_answer(world):
    server = world.fixture('honest')
    for way in WAYS:
        client = server.open(way)
        client.initialize()
        client.send(
            {
                'jsonrpc': '2.0',
                'id': 99,
                'method': 'tools/call',
                'params': {'name': 'echo', 'arguments': {'text': 'late'}},
            }
        )
        client.close_input()
        expect(b'late' in client.read_rest(), f'the answer got lost over {way}')
        nothing_left(server)


@case
def stderr_goes_to_the_journal_under_the_servers_name(world):
    server = world.fixture('exit', '0', 'a line for the journal')
    server.connect().wait()
    found = eventually(
        lambda: world.journal(f'SYSLOG_IDENTIFIER=mcp-{server.name}'),
        'a record of the server in the journal',
    )
    expect(
        any(r['MESSAGE'] == 'a line for the journal' for r in found),
        f'the line is not among {[r["MESSAGE"] for r in found]}',
    )
    expect(
        any(r.get('MCP_SERVER') == server.name for r in world.journal(f'MCP_SERVER={server.name}')),
        'no MCP_SERVER field',
    )


@case
def stderr_is_there_to_read_while_the_server_starts(world):
    """What npx says of its download is of use only while it downloads."""
    script = {'command': '/bin/sh', 'args': ['-c', 'echo downloading >&2; exec sleep 1000'], 'stop': QUICK_STOP}
    server = world.define(script)
    client = server.connect()
    eventually(
        lambda: any('downloading' in str(r['MESSAGE']) for r in world.journal(f'SYSLOG_IDENTIFIER=mcp-{server.name}')),
        'the line in the journal',
    )
    expect_equal(client.process.poll(), None, 'mcp-connect')
    client.close()
    nothing_left(server)
    client = world.define({**script, 'stderr': 'client'}).connect()
    readable, _, _ = select.select([client.errors], [], [], 10)
    expect(readable and b'downloading' in os.read(client.errors, 4096), 'the client was told nothing')
    expect_equal(client.process.poll(), None, 'mcp-connect')


@case(managers=['user'])
def dev_stdout_and_dev_stderr_can_be_opened(world):
    """Over pipes of the same user: the kernel refuses another user's, and sockets altogether."""
    client = world.fixture('dev_stdout').connect()
    expect_equal(client.read_line(), b'through /dev/stdout', 'first line')


@case
def the_idle_supervisor_leaves_and_the_socket_stays(world):
    server = world.fixture('honest', sessions={'idle_timeout': '1s'})
    talks(server.connect()).close()
    eventually(lambda: world.property(server.unit, 'ActiveState') == 'inactive', 'the supervisor left')
    expect_equal(world.property(server.unit, 'Result'), 'success', 'Result')
    expect_equal(world.property(server.socket_unit, 'ActiveState'), 'active', 'socket')
    talks(server.dial())


@case
def a_supervisor_with_a_session_is_not_idle(world):
    server = world.fixture('honest', sessions={'idle_timeout': '1s'})
    client = talks(server.connect())
    time.sleep(2)
    expect_equal(client.call('echo', text='still here'), ('still here', False), 'echo')


@case
def systemctl_start_works_without_a_client(world):
    server = world.fixture('honest')
    world.systemctl('start', server.unit)
    expect_equal(world.property(server.unit, 'ActiveState'), 'active', 'ActiveState')
    before = world.property(server.unit, 'StatusText')
    expect(before, 'no status text')
    talks(server.connect())
    eventually(
        lambda: '1' in world.property(server.unit, 'StatusText'), 'a status text that counts the session'
    )


@case
def the_server_may_take_its_time_for_the_first_word(world):
    """Nothing of ours has an opinion on how long a handshake may take: the client has."""
    server = world.fixture('silent')
    client = server.connect()
    client.send({'jsonrpc': '2.0', 'id': 1, 'method': 'ping'})
    time.sleep(3)
    expect_equal(client.process.poll(), None, 'mcp-connect')
    try:
        client.close()
    except Closed:
        pass
    nothing_left(server)
