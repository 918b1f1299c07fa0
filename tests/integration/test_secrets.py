# SPDX-License-Identifier: LGPL-2.1-or-later
"""Secrets of a definition reach the server, and nothing else: no journal, status, unit, bus or command line."""

import pathlib
import re
import secrets

from checks import QUICK_STOP, WAYS, nothing_left, talks
from harness import case, expect
from world import FIXTURES

PLACES = ('env', 'args', 'envFile')


def plant(world, command, *args):
    """A server that has a canary in each place, and the canaries."""
    canaries = {place: f'canary{place}{secrets.token_hex(8)}' for place in PLACES}
    base = pathlib.Path('/etc') if world.kind == 'system' else world.home
    file = world.write(base / 'mcp-secrets.env', f'FROM_FILE={canaries["envFile"]}\n', mode=0o600)
    server = world.define(
        {
            'command': command,
            'args': [*args, canaries['args']],
            'env': {'FROM_ENV': canaries['env']},
            'envFile': str(file),
            'stop': QUICK_STOP,
        }
    )
    return server, canaries


def command_lines_of_ours():
    found = b''
    for path in pathlib.Path('/proc').glob('[0-9]*/cmdline'):
        try:
            text = path.read_bytes()
        except OSError:
            continue
        if re.search(rb'(^|/)mcp-|^mcpctl', text.split(b'\0')[0]):
            found += text
    return found.decode(errors='replace')


def everything_that_tells(world, server):
    """What somebody else than the server could read, by where it is."""
    units = [server.unit, server.socket_unit]  # a scope's status lists the server's own command line
    files = [
        p.read_text(encoding='utf-8', errors='replace')
        for p in world.units.rglob('*')
        if p.is_file() and server.name in str(p)
    ]
    return {
        'journal': world.run(['journalctl', '-b', '-o', 'export', '--all'], user='root').stdout,
        'status': world.systemctl('status', '--full', '-n', '1000', *units, check=False).stdout,
        'bus': world.systemctl('show', '--all', *units, *server.scopes()).stdout,
        'unit files': '\n'.join(files),
        'command lines': command_lines_of_ours(),
        'mcpctl': world.run(['mcpctl', world.flag, 'show', server.name]).stdout
        + world.run(['mcpctl', world.flag, 'status', server.name]).stdout,
    }


def silent(world, server, canaries):
    for where, text in everything_that_tells(world, server).items():
        expect(text or where == 'command lines', f'nothing was read of {where}')
        for place, canary in canaries.items():
            expect(canary not in text, f'the secret of {place} is in {where}')


@case(timeout=60)
def secrets_reach_the_server_and_nothing_else(world):
    server, canaries = plant(world, '/usr/bin/python3', '-ISB', str(FIXTURES / 'server.py'), 'honest')
    for way in WAYS:
        client = talks(server.open(way))
        environment = client.call('environment')[0]
        for place in ('env', 'envFile'):
            expect(canaries[place] in environment, f'the server has no secret of {place}')
        silent(world, server, canaries)
        client.close()
        nothing_left(server)
    silent(world, server, canaries)


@case(timeout=60)
def a_server_that_fails_gives_no_secret_away(world):
    server, canaries = plant(world, '/bin/false')
    expect(server.connect().wait() != 0, 'the server did not fail')
    nothing_left(server)
    silent(world, server, canaries)
