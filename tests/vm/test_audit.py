# SPDX-License-Identifier: LGPL-2.1-or-later
"""Denials that the kernel logs, and what mcpctl why makes of them."""

import contextlib
import json
import socket
import struct
import subprocess

from checks import SESSION_STARTED
from harness import Skip, case, eventually, expect, expect_equal
from world import landlock_abi

LOGGING_ABI = 7


def denied_read(world):
    """A server that was denied a read, and the file that it wanted."""
    outside = world.directory('denied')
    (outside / 'file').write_text('x', encoding='utf-8')
    isolation = {'enforcement': 'best-effort', 'manifest': {'version': '0.1.0'}}
    server = world.define({'command': '/usr/libexec/mcp-demo-server', 'isolation': isolation})
    client = server.connect()
    client.initialize()
    _, failed = client.call('read_file', path=str(outside / 'file'))
    expect(failed or landlock_abi() == 0, 'the read was not denied')
    return server, outside / 'file', client


def why(world, *args):
    """The journal of the audit is for root and the group systemd-journal, which the member is in here."""
    return world.run(['mcpctl', world.flag, 'why', *args])


def claim(world, server):
    """Somebody writes a record as if that session had been another server's."""
    started = world.journal(f'MCP_SERVER={server.name}', f'MESSAGE_ID={SESSION_STARTED}')[-1]
    fields = {
        'MESSAGE': 'Session of somebody else started.',
        'MESSAGE_ID': SESSION_STARTED,
        'MCP_SERVER': 'somebody-else',
        'MCP_SESSION': '0' * 16,
        'MCP_PID': started['MCP_PID'],
    }
    text = ''.join(f'{name}={value}\n' for name, value in fields.items())
    nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']
    subprocess.run([*nobody, 'logger', '--journald'], input=text, text=True, check=True)
    eventually(lambda: world.journal('MCP_SERVER=somebody-else'), 'the record in the journal')


@case(timeout=60)
def denials_are_in_the_journal_and_told_by_server(world):
    if landlock_abi() < LOGGING_ABI:
        raise Skip(f'Landlock ABI {landlock_abi()} does not log')
    server, wanted, client = denied_read(world)
    records = eventually(lambda: world.journal('_TRANSPORT=audit', '_AUDIT_TYPE=1423'), 'a denial in the journal')
    mine = [r for r in records if str(wanted) in r['MESSAGE']]
    expect(mine and 'fs.read_file' in mine[-1]['MESSAGE'], f'the journal has {[r["MESSAGE"] for r in records]}')
    claim(world, server)
    done = why(world, server.name)
    for word in (server.name, 'fs.read_file', str(wanted)):
        expect(word in done.stdout, f'{word} is not in {done.stdout}{done.stderr}')
    answer = json.loads(why(world, '--json', server.name).stdout)
    expect_equal({d['server'] for d in answer['denials']}, {server.name}, 'servers in --json')
    client.close()
    # Without a name: of every server.
    told = [line.split() for line in why(world).stdout.splitlines()]
    expect(any({server.name, str(wanted)} <= set(line) for line in told), f'without a name it says {told}')


@case(managers=('system',))
def what_is_missing_for_denials_is_told(world):
    if landlock_abi() >= LOGGING_ABI:
        raise Skip(f'Landlock ABI {landlock_abi()} logs')
    server, _, client = denied_read(world)
    done = why(world, server.name)
    said = ' '.join((done.stdout + done.stderr).split())
    expect(f'ABI {LOGGING_ABI}' in said and '6.15' in said, f'it says {said}')
    # That one is booted without audit, too, and nobody could switch it on.
    expect_equal('a kernel with audit' in said, landlock_abi() == 0, f'audit=0 in {said!r}')
    expect_equal('Audit=yes' in said, False, f'audit to be switched on in {said!r}')
    client.close()


@contextlib.contextmanager
def audit_off():
    """Debian's own state: nobody has asked the kernel for audit records."""
    set_, mask_enabled = 1001, 1

    def switch(enabled):
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9) as s:
            status = struct.pack('=10I', mask_enabled, enabled, *[0] * 8)
            s.sendto(struct.pack('=IHHII', 16 + len(status), set_, 5, 1, 0) + status, (0, 0))
            s.settimeout(5)
            error = struct.unpack('=i', s.recv(100)[16:20])[0]
            expect_equal(error, 0, 'answer of the kernel')

    switch(0)
    try:
        yield
    finally:
        switch(1)


@case(managers=('system',))
def that_audit_is_off_is_told(world):
    if landlock_abi() < LOGGING_ABI:
        raise Skip(f'Landlock ABI {landlock_abi()} does not log')
    with audit_off():
        server, _, client = denied_read(world)
        client.close()
        done = why(world, server.name)
        needs = json.loads(why(world, '--json', server.name).stdout)['needs']
        doctor = world.run(['mcpctl', world.flag, 'doctor', '--json'])
    said = ' '.join(done.stdout.split())
    expect('Nothing was denied' in said and 'Audit=yes' in said, f'it says {said!r} {done.stderr!r}')
    expect('Audit=yes' in needs, f'"needs" is {needs!r}')
    expect('Audit=yes' in doctor.stdout, f'doctor says {doctor.stdout}')
