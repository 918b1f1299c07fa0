# SPDX-License-Identifier: LGPL-2.1-or-later
"""What many cases ask of a server."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

from client import Closed
from harness import Skip, eventually, expect, expect_equal

WAYS = ('connect', 'socket')

SESSION_STARTED = '6a54e3c10f9f48adace4e770e9a03ab8'

# Short, so that a case about escalation takes two seconds rather than fifteen.
QUICK_STOP = {'eof_grace': '500ms', 'kill_after': '500ms'}


def nothing_left(server, timeout=10.0):
    """The proof after every way to end: no process, no scope, no cgroup."""
    eventually(
        lambda: not server.remains(),
        lambda: 'nothing left of ' + server.name + ', but there is ' + ', '.join(server.remains()),
        timeout,
        every=0.05,
    )


def talks(client, text='hello'):
    """A whole exchange: handshake, and a tool that gives back what it got."""
    expect_equal(client.initialize()['serverInfo']['name'], 'fixture', 'server name')
    expect_equal(client.call('echo', text=text), (text, False), 'echo')
    return client


def talks_at_last(server, way):
    """A server that ended right after its start is started anew only a moment later."""

    def attempt():
        client = server.open(way)
        try:
            return talks(client)
        except (Closed, BrokenPipeError):
            client.kill()
            return None

    return eventually(attempt, 'a session')


# EACCES, EPERM; EROFS, where the unit's own read-only mounts are asked before the sandbox; and EAFNOSUPPORT, the
# answer to socket() that programs know how to live with.
DENIALS = ('errno=13:', 'errno=1:', 'errno=30:', 'errno=97:')


def denied(client, tool, **arguments):
    """A tool call must fail because it isn't allowed, and not for any other reason."""
    text, failed = client.call(tool, **arguments)
    expect(
        failed and any(d in text for d in DENIALS), f'{tool}({arguments}) should be denied, but: {text!r}'
    )


def allowed(client, tool, **arguments):
    text, failed = client.call(tool, **arguments)
    expect(not failed, f'{tool}({arguments}) should work, but: {text!r}')
    return text


def rss_kib(pid):
    for line in pathlib.Path(f'/proc/{pid}/status').read_text(encoding='utf-8').splitlines():
        if line.startswith('VmRSS:'):
            return int(line.split()[1])
    return 0


def zombies_of(parent):
    found = []
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/stat', encoding='utf-8', errors='replace') as f:
                state, ppid = f.read().rpartition(')')[2].split()[:2]
        except OSError:
            continue
        if state == 'Z' and int(ppid) == parent:
            found.append(int(pid))
    return found


def processes_of(uid):
    found = 0
    for pid in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError):
            found += os.stat(f'/proc/{pid}').st_uid == uid
    return found


def end_by_close(_server, client):
    client.close()


def end_by_client_kill(_server, client):
    client.kill()


def end_by_stop(server, _client):
    server.world.systemctl('stop', server.unit, timeout=20)


def end_by_supervisor_kill(server, _client):
    os.kill(server.supervisor, signal.SIGKILL)


def end_by_supervisor_crash(server, _client):
    os.kill(server.supervisor, signal.SIGSEGV)


def end_by_restart(server, _client):
    server.world.systemctl('restart', server.unit, timeout=20)


def end_by_server_kill(server, _client):
    for pid in server.processes():
        os.kill(pid, signal.SIGKILL)


ENDS = {
    'close': end_by_close,
    'kill -9 of the client': end_by_client_kill,
    'systemctl stop': end_by_stop,
    'kill -9 of the supervisor': end_by_supervisor_kill,
    'crash of the supervisor': end_by_supervisor_crash,
    'systemctl restart': end_by_restart,
    'kill -9 of the server': end_by_server_kill,
}


# -- what mcpctl says beforehand, and what then happens --------------------------------

WISHES = {
    'sandbox': {},
    'limits': {},
    'manifest': {'manifest': {'version': '0.1.0'}},
    'blocked': {'network': 'blocked'},
    'sockets': {'unix_sockets': ['/run/dbus/system_bus_socket']},
    'ports': {'manifest': {'version': '0.1.0', 'network': {'mode': 'blocked', 'ports': {'connect': [443]}}}},
}


def asked(world, verb, server):
    """What mcpctl says of a server in JSON, and its exit status."""
    done = world.run(['mcpctl', world.flag, verb, '--json', server.name])
    try:
        return json.loads(done.stdout), done.returncode
    except json.JSONDecodeError:
        raise AssertionError(f'mcpctl {verb} says {done.stdout!r} {done.stderr!r}') from None


def started(server):
    """How a start goes: mcp-connect's exit status and words where it is refused, None where the server talks."""
    client = server.connect()
    try:
        talks(client)
    except (Closed, BrokenPipeError):
        return client.wait(), client.stderr_text()
    client.close()
    return None, ''


def same_as_predicted(world, server):
    verdict, status = asked(world, 'check', server)
    (verdict,) = verdict if isinstance(verdict, list) else [verdict]
    refused, words = started(server)
    expect_equal(verdict['exit_status'], status, 'exit_status in --json and that of mcpctl check')
    expect_equal(refused or 0, status, f'exit status of a start, as against mcpctl check ({words!r})')
    expect_equal(verdict['starts'], refused is None, '"starts"')
    if refused is not None:
        for problem in (p for p in verdict['problems'] if p['level'] == 'error'):
            expect(problem['message'] in words, f'check says {problem["message"]!r}, a start says {words!r}')
        return
    shown, _ = asked(world, 'show', server)
    (record,) = world.journal(f'MCP_SERVER={server.name}', f'MESSAGE_ID={SESSION_STARTED}')
    missing = record.get('MCP_MISSING', [])
    expect_equal(
        sorted([missing] if isinstance(missing, str) else missing), sorted(shown['plan']['missing']), 'missing rows'
    )
    expect_equal(record['MCP_ISOLATED'] == 'true', verdict['isolation']['isolated'], 'isolated')


def predicted(world, abi='of the kernel'):
    """Compares what mcpctl check and show say with a start, for every wish."""
    servers = {}
    for enforcement in ('best-effort', 'strict'):
        for wish, isolation in WISHES.items():
            # A container has no controllers, which would be all that strict has to say there.
            limits = {} if wish == 'limits' else {'tasks': 'infinity'}
            isolation = {**isolation, 'enforcement': enforcement}
            servers[wish, enforcement] = world.fixture('honest', isolation=isolation, limits=limits, start=False)
    world.reload()
    world.systemctl('start', *(s.socket_unit for s in servers.values()))
    for (wish, enforcement), server in servers.items():
        try:
            same_as_predicted(world, server)
        except AssertionError as e:
            raise AssertionError(f'{wish}, {enforcement}, ABI {abi}: {e}') from e


@contextlib.contextmanager
def traced(pids):
    """strace on processes that run; yields a function that ends it and returns its lines."""
    if not shutil.which('strace'):
        raise Skip('strace is not installed')
    with tempfile.NamedTemporaryFile('r', encoding='utf-8', errors='replace') as record:
        command = ['strace', '-f', '-y', '-o', record.name, *(f'--attach={pid}' for pid in pids)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tracer:

            def end():
                tracer.send_signal(signal.SIGINT)
                tracer.wait(10)
                return record.read().splitlines()

            try:
                for _ in pids:
                    line = tracer.stderr.readline()
                    expect('attached' in line, f'strace says: {line}')
                yield end
            finally:
                tracer.kill()
