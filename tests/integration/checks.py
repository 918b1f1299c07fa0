# SPDX-License-Identifier: LGPL-2.1-or-later
"""What many cases ask of a server."""

import os
import signal

from harness import eventually, expect, expect_equal

WAYS = ('connect', 'socket')

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
