# SPDX-License-Identifier: LGPL-2.1-or-later
"""What this kernel's Landlock lacks: strict names it, best-effort says it once, mcpctl check knows it beforehand."""

import contextlib
import os
import pathlib
import socket

from checks import allowed, asked, denied, nothing_left, predicted, started, talks
from harness import case, expect, expect_equal
from world import ids_of, landlock_abi

DEGRADED = '12676984562545b28d30f223c125b7b8'
REFUSED = 'f580030380b14ca09b9c2e7482170800'

# Of what Landlock alone can do: since which ABI, and which Linux brought it.
NEEDS = {
    'fs-write': (1, '5.13'),
    'fs-read': (1, '5.13'),
    'fs-refer': (2, '5.19'),
    'fs-truncate': (3, '6.2'),
    'tcp-connect': (4, '6.7'),
    'tcp-bind': (4, '6.7'),
    'dev-ioctl': (5, '6.10'),
    'unix-abstract': (6, '6.12'),
    'signal': (6, '6.12'),
    'unix-path': (9, '7.1'),
}
AF_UNIX, AF_INET, DATAGRAM = 1, 2, 2


def lacking():
    return sorted(row for row, (abi, _) in NEEDS.items() if abi > landlock_abi())


@contextlib.contextmanager
def listening(world, name):
    """A UNIX socket that accepts, and everyone may connect to by Unix rules."""
    path = world.directory(name) / 'socket'
    with socket.socket(socket.AF_UNIX) as s:
        s.bind(str(path))
        path.chmod(0o666)
        s.listen(8)
        yield str(path)


def wanting_everything(world, path, enforcement):
    """A server that wants every protection of Landlock's, and no limit of a control group."""
    manifest = {'version': '0.1.0', 'network': {'mode': 'blocked', 'ports': {'connect': [443]}}}
    isolation = {'enforcement': enforcement, 'manifest': manifest, 'unix_sockets': [path]}
    return world.fixture('honest', isolation=isolation, limits={'tasks': 'infinity'})


def missing_of(record):
    listed = record.get('MCP_MISSING', [])
    return sorted([listed] if isinstance(listed, str) else listed)


def records(world, server, message_id):
    return world.journal(f'MCP_SERVER={server.name}', f'MESSAGE_ID={message_id}')


@case(timeout=60)
def strict_refuses_with_row_found_abi_and_the_kernel_that_has_it(world):
    with listening(world, 'listed') as path:
        server = wanting_everything(world, path, 'strict')
        status, words = started(server)
    if not lacking():
        expect_equal(status, None, f'nothing is missing, but it is refused ({words})')
        nothing_left(server)
        return
    expect_equal(status, 3, 'exit status of mcp-connect')
    found = f'found ABI {landlock_abi()}' if landlock_abi() else "not in the kernel's lsm= list"
    sentences = [s for s in words.splitlines() if 'The protection ' in s]
    for row in lacking():
        abi, version = NEEDS[row]
        said = [s for s in sentences if f'protection {row},' in s]
        expect(
            len(said) == 1 and f'Landlock ABI {abi} (Linux {version})' in said[0] and found in said[0],
            f'of {row} it says {said or words!r}',
        )
    for row in NEEDS.keys() - lacking():
        expect(f'protection {row},' not in words, f'{row} is not missing, but told: {words}')
    (record,) = records(world, server, REFUSED)
    for row in lacking():
        expect(row in record['MESSAGE'], f'{row} is not in the alert {record["MESSAGE"]!r}')
    expect_equal(server.remains(), [], 'of a server that was refused')


@case(timeout=60)
def best_effort_starts_and_alerts_once(world):
    with listening(world, 'listed') as path:
        server = wanting_everything(world, path, 'best-effort')
        clients = [talks(server.connect()) for _ in range(2)]
    status = world.property(server.unit, 'StatusText')
    shown, _ = asked(world, 'show', server)
    for client in clients:
        client.close()
    alerts = records(world, server, DEGRADED)
    expect_equal(sorted(shown['plan']['missing']), lacking(), 'missing in mcpctl show')
    if not lacking():
        expect_equal(alerts, [], 'alerts')
        expect('missing' not in status and 'DEGRADED' not in status, f'the status is {status!r}')
        return
    expect_equal(len(alerts), 1, f'alerts for two sessions ({[a["MESSAGE"] for a in alerts]})')
    expect_equal(missing_of(alerts[0]), lacking(), 'MCP_MISSING of the alert')
    for row in lacking():
        expect(row in alerts[0]['MESSAGE'], f'{row} is not in {alerts[0]["MESSAGE"]!r}')
        expect(row in status, f'{row} is not in the status {status!r}')
    expect_equal('DEGRADED/unconfined' in status, landlock_abi() == 0, f'unconfined in {status!r}')
    nothing_left(server)


@case(timeout=120)
def check_tells_what_a_start_does(world):
    predicted(world)


@case(timeout=60)
def of_unix_sockets_the_listed_one_can_be_reached(world):
    """Before ABI 9 the other ones can be, too, and that is told (above)."""
    with listening(world, 'listed') as listed, listening(world, 'unlisted') as unlisted:
        isolation = {'unix_sockets': [listed], 'enforcement': 'best-effort'}
        server = world.fixture('honest', isolation=isolation)
        client = talks(server.connect())
        allowed(client, 'socket', family=AF_UNIX, address=listed)
        others = [unlisted, '/run/dbus/system_bus_socket', '/run/systemd/journal/stdout']
        if world.kind == 'user':
            others += [f'/run/user/{ids_of(world.owner)[0]}/{name}' for name in ('bus', 'systemd/private')]
        expect(all(pathlib.Path(p).is_socket() for p in others), f'not all of {others} are there')
        for path in others:
            if landlock_abi() >= NEEDS['unix-path'][0]:
                denied(client, 'socket', family=AF_UNIX, address=path)
        if landlock_abi() < NEEDS['unix-path'][0]:
            allowed(client, 'socket', family=AF_UNIX, address=unlisted)
        client.close()
        nothing_left(server)


@case(timeout=60)
def ports_are_for_tcp_and_the_listed_ones(world):
    """UDP is shut by the filter on every kernel, and by Landlock as well from ABI 10 on."""
    with socket.create_server(('127.0.0.1', 0)) as listed, socket.create_server(('127.0.0.1', 0)) as other:
        ports = [s.getsockname()[1] for s in (listed, other)]
        manifest = {'version': '0.1.0', 'network': {'mode': 'blocked', 'ports': {'connect': ports[:1]}}}
        server = world.fixture('honest', isolation={'manifest': manifest, 'enforcement': 'best-effort'})
        client = talks(server.connect())
        allowed(client, 'socket', family=AF_INET, address=['127.0.0.1', ports[0]])
        denied(client, 'socket', family=AF_INET, type=DATAGRAM, address=['127.0.0.1', ports[0]])
        if landlock_abi() >= NEEDS['tcp-connect'][0]:
            denied(client, 'socket', family=AF_INET, address=['127.0.0.1', ports[1]])
        else:
            allowed(client, 'socket', family=AF_INET, address=['127.0.0.1', ports[1]])
        client.close()


@case
def signals_reach_nobody_else(world):
    """A process of the same user outside."""
    with world.popen(['sleep', '1000'], user='member') as victim:
        try:
            server = world.fixture('honest', isolation={'enforcement': 'best-effort'})
            client = talks(server.connect())
            if world.kind == 'system' or landlock_abi() >= NEEDS['signal'][0]:
                denied(client, 'signal', pid=victim.pid, signal=0)
                denied(client, 'signal', pid=os.getpid(), signal=0)
            else:
                allowed(client, 'signal', pid=victim.pid, signal=0)
            client.close()
        finally:
            victim.kill()
