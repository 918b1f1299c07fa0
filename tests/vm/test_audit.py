# SPDX-License-Identifier: LGPL-2.1-or-later
"""Denials that the kernel logs, and what mcpctl why makes of them."""

import json

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


@case(timeout=60)
def denials_are_in_the_journal_and_told_by_server(world):
    if landlock_abi() < LOGGING_ABI:
        raise Skip(f'Landlock ABI {landlock_abi()} does not log')
    server, wanted, client = denied_read(world)
    records = eventually(lambda: world.journal('_TRANSPORT=audit', '_AUDIT_TYPE=1423'), 'a denial in the journal')
    mine = [r for r in records if str(wanted) in r['MESSAGE']]
    expect(mine and 'fs.read_file' in mine[-1]['MESSAGE'], f'the journal has {[r["MESSAGE"] for r in records]}')
    done = why(world, server.name)
    for word in (server.name, 'fs.read_file', str(wanted)):
        expect(word in done.stdout, f'{word} is not in {done.stdout}{done.stderr}')
    answer = json.loads(why(world, '--json', server.name).stdout)
    expect_equal({d['server'] for d in answer['denials']}, {server.name}, 'servers in --json')
    client.close()


@case(managers=('system',))
def what_is_missing_for_denials_is_told(world):
    if landlock_abi() >= LOGGING_ABI:
        raise Skip(f'Landlock ABI {landlock_abi()} logs')
    server, _, client = denied_read(world)
    done = why(world, server.name)
    said = ' '.join((done.stdout + done.stderr).split())
    expect(f'ABI {LOGGING_ABI}' in said and '6.15' in said, f'it says {said}')
    client.close()
