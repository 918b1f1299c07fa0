# SPDX-License-Identifier: LGPL-2.1-or-later
"""Secrets reach the server, and nobody else gets to see them."""

import contextlib
import json
import os
import pathlib
import secrets
import subprocess

from checks import QUICK_STOP, WAYS, denied, nothing_left, talks
from harness import Skip, case, expect, expect_equal
from world import FIXTURES

CANARY = f'canary{secrets.token_hex(8)}'
SOURCES = ('env', 'args', 'envFile', 'credentials')


def canary(source):
    return f'{CANARY}-{source}'


def store_of(world):
    return pathlib.Path('/etc/credstore') if world.kind == 'system' else world.home / '.config/credstore'


@contextlib.contextmanager
def stored(world, name, text, directory=None):
    """A credential where the manager looks for it, until the case is over."""
    file = world.write((directory or store_of(world)) / name, text, mode=0o600)
    try:
        yield file
    finally:
        file.unlink(missing_ok=True)


def environment(client):
    return json.loads(client.call('environment')[0])


def texts_below(directory):
    """What every file below a directory contains, as (path, text)."""
    for top, _, names in os.walk(directory):
        for name in names:
            path = pathlib.Path(top, name)
            with contextlib.suppress(OSError):
                if path.is_file():
                    yield str(path), path.read_text(encoding='utf-8', errors='replace')


def texts_of_processes(server):
    """Command line and environment of every process but the server's own."""
    own = server.processes()
    for entry in os.scandir('/proc'):
        if entry.name.isdigit() and int(entry.name) not in own:
            for part in ('cmdline', 'environ'):
                with contextlib.suppress(OSError):
                    yield f'{entry.path}/{part}', pathlib.Path(entry.path, part).read_bytes().decode(errors='replace')


def texts_of_programs(world, server):
    """What people are shown who ask about a server."""
    for argv in (
        ['systemctl', world.flag, 'cat', server.unit, server.socket_unit],
        ['systemctl', world.flag, 'show', '*'],
        # Not of the scope: there systemctl shows the server's own command line, as ps does.
        ['systemctl', world.flag, 'status', '--no-pager', '--full', server.unit, server.socket_unit],
        *(
            ['mcpctl', world.flag, '--no-pager', *more, verb, server.name]
            for verb in ('show', 'check', 'status')
            for more in ([], ['--json'])
        ),
    ):
        done = world.run(argv, user='root' if world.kind == 'system' else None, timeout=60)
        expect(done.stdout, f'{argv} says nothing: {done.stderr}')
        yield ' '.join(argv), done.stdout + done.stderr


def expect_unseen(world, server, *more):
    """No canary in anything that others than the server can look at."""
    subprocess.run(['journalctl', '--sync'], check=False, capture_output=True)
    journal = world.run(['journalctl', '-b', '-q', '-o', 'export', '--all'], user='root', timeout=60).stdout
    expect(server.name in journal, 'the journal says nothing of the server')
    for where, text in (
        ('the journal', journal),
        *texts_below(world.units),
        *texts_of_processes(server),
        *texts_of_programs(world, server),
        *more,
    ):
        seen = [line for line in text.splitlines() if CANARY in line]
        expect(not seen, f'{where} shows a secret: {seen}')


@contextlib.contextmanager
def planted(world, command, *args):
    """A server that has a canary from each source."""
    env_file = world.write(world.definitions / 'secrets.env', f'FROM_FILE={canary("envFile")}\n', mode=0o600)
    with stored(world, 'mcp-case.token', canary('credentials') + '\n'):
        try:
            yield world.define(
                {
                    'command': command,
                    'args': [*args, canary('args')],
                    'env': {'FROM_ENV': canary('env')},
                    'envFile': str(env_file),
                    'credentials': {'FROM_CREDENTIAL': 'mcp-case.token'},
                    'stop': QUICK_STOP,
                }
            )
        finally:
            env_file.unlink()


@case(timeout=120)
def secrets_reach_the_server_and_nobody_else(world):
    with planted(world, '/usr/bin/python3', '-ISB', str(FIXTURES / 'server.py'), 'honest') as server:
        for way in WAYS:
            client = talks(server.open(way))
            env = environment(client)
            got = {
                'env': env.get('FROM_ENV'),
                'args': json.loads(client.call('where')[0])['argv'][-1],
                'envFile': env.get('FROM_FILE'),
                'credentials': env.get('FROM_CREDENTIAL'),
            }
            expect_equal(got, {source: canary(source) for source in SOURCES}, f'what the server received by {way}')
            expect('CREDENTIALS_DIRECTORY' not in env, 'the server is told where its credentials are')
            expect(f'/proc/{server.supervisor}/environ' in dict(texts_of_processes(server)), 'no supervisor')
            expect(server.scopes(), 'no scope whose properties could be looked at')
            expect_unseen(world, server)
            client.close()
            nothing_left(server)
            expect_unseen(world, server, *([('mcp-connect', client.stderr_text())] if way == 'connect' else []))


@case(timeout=60)
def a_server_that_fails_gives_no_secret_away(world):
    with planted(world, '/bin/false') as server:
        client = server.connect()
        expect(client.wait() != 0, 'the server did not fail')
        nothing_left(server)
        expect_unseen(world, server, ('mcp-connect', client.stderr_text()))


@case(timeout=60)
def a_missing_credential_is_told_to_the_client_until_it_is_there(world):
    server = world.fixture(
        'honest', canary('args'), env={'FROM_ENV': canary('env')}, credentials={'TOKEN': 'mcp-case.late'}
    )
    client = server.connect()
    status = client.wait()
    said = client.stderr_text()
    expect(status != 0, 'mcp-connect succeeded')
    for word in ('TOKEN', 'mcp-case.late', 'credstore/mcp-case.late', 'daemon-reload', server.file.name):
        expect(word in said, f'mcp-connect does not say {word!r}: {said!r}')
    expect_unseen(world, server, ('mcp-connect', said))
    with stored(world, 'mcp-case.late', canary('credentials')):
        world.reload()
        expect_equal(environment(talks(server.connect()))['TOKEN'], canary('credentials'), 'the variable')


@case(timeout=60)
def a_changed_credential_counts_after_a_restart(world):
    with stored(world, 'mcp-case.change', 'first') as file:
        server = world.fixture('honest', credentials={'TOKEN': 'mcp-case.change'})
        client = talks(server.connect())
        expect_equal(environment(client)['TOKEN'], 'first', 'the variable')
        world.write(file, 'two\nlines\n', mode=0o600)
        expect_equal(environment(talks(server.connect()))['TOKEN'], 'first', 'the variable before the restart')
        world.systemctl('restart', server.unit)
        expect_equal(environment(talks(server.connect()))['TOKEN'], 'two\nlines', 'the variable after it')


@case(managers=['system'], timeout=60)
def an_encrypted_credential_is_opened_by_the_manager(world):
    name, store = 'mcp-case.sealed', pathlib.Path('/etc/credstore.encrypted')
    with stored(world, name, '', store) as file:
        file.unlink()
        done = world.run(['systemd-creds', 'encrypt', f'--name={name}', '-', file], stdin=canary('credentials'))
        if done.returncode != 0:
            raise Skip(f'systemd-creds cannot encrypt here: {done.stderr.strip()}')
        server = world.fixture('honest', credentials={'TOKEN': name})
        expect_equal(environment(talks(server.connect()))['TOKEN'], canary('credentials'), 'the variable')
        expect_unseen(world, server)


@case(managers=['system'], timeout=60)
def credentials_are_closed_to_other_servers_and_to_a_manifest(world):
    with stored(world, 'mcp-case.own', canary('credentials')):
        owner = world.fixture('honest', credentials={'TOKEN': 'mcp-case.own'})
        confined = world.fixture(
            'honest',
            credentials={'TOKEN': 'mcp-case.own'},
            isolation={'manifest': {'version': '0.1.0'}, 'enforcement': 'best-effort'},
        )
        other = talks(world.fixture('honest').connect())
        talks(owner.connect())
        inside = talks(confined.connect())
        expect_equal(environment(inside)['TOKEN'], canary('credentials'), 'the variable under a manifest')
        for server in (owner, confined):
            path = pathlib.Path('/run/credentials') / server.unit / 'mcp-case.own'
            denied(other, 'read', path=str(path))
        denied(inside, 'read', path=str(path))
        denied(other, 'read', path=str(store_of(world) / 'mcp-case.own'))
