# SPDX-License-Identifier: LGPL-2.1-or-later
"""nono manifests in definitions, inline and as a file beside: what mcpctl says of them, and what then holds.

What each manifest has to come to is the table of tests/unit/test-manifests.py; here it goes the whole way."""

import json
import socket

from checks import asked, same_as_predicted, talks
from harness import case, expect, expect_equal

VERSION = {'version': '0.1.0'}


def define(world, manifest, how, **isolation):
    """A server with the manifest, started nowhere. best-effort: whatever this kernel has not is not the matter."""
    isolation = {'enforcement': 'best-effort', **isolation}
    text = json.dumps(manifest, indent=1)
    if how == 'inline':
        isolation['manifest'] = manifest
    else:
        path = world.write(world.definitions / f'beside-{world.kind}.manifest', text)
        world.scratch.append(path)
        isolation['manifest'] = path.name
    return world.fixture('honest', isolation=isolation, limits={'tasks': 'infinity'}, start=False)


def both(world, manifest, **isolation):
    servers = {how: define(world, manifest, how, **isolation) for how in ('inline', 'beside')}
    world.reload()
    world.systemctl('start', *(s.socket_unit for s in servers.values()))
    return servers


def grants_of(plan):
    return [(r['resolved'], r['access']) for r in plan['files']['rules'] if r['source'].startswith('manifest ')]


def works(client, tool, **arguments):
    text, failed = client.call(tool, **arguments)
    return not failed, text


def expect_works(client, how, wanted, tool, **arguments):
    worked, text = works(client, tool, **arguments)
    expect_equal(worked, wanted, f'{how}: {tool} {arguments} works ({text})')


@case(timeout=60)
def a_manifest_means_the_same_inline_and_beside(world):
    readable, writable, outside = (world.directory(name) for name in ('readable', 'writable', 'outside'))
    for directory in (readable, writable, outside):
        (directory / 'file').write_text('there\n')
        (directory / 'file').chmod(0o666)
    manifest = {
        **VERSION,
        'filesystem': {
            'grants': [
                {'path': str(readable), 'access': 'read'},
                {'path': f'{writable}//./', 'access': 'readwrite'},
                {'path': str(outside / 'file'), 'access': 'write', 'type': 'file'},
            ],
            'deny': [{'path': '/srv/mcp-cases/none'}, {'path': '/root/.ssh'}],
        },
        'network': {'mode': 'blocked', 'dns': True},
        'process': {'exec_strategy': 'supervised', 'signal_mode': 'allow_all'},
    }
    for how, server in both(world, manifest).items():
        plan = asked(world, 'show', server)[0]['plan']
        expect_equal(
            grants_of(plan),
            [
                (str(readable), ['read', 'execute']),
                (str(writable), ['read', 'write', 'execute', 'make-device']),
                (str(outside / 'file'), ['write']),
            ],
            f'{how}: rules of the manifest',
        )
        expect_equal(plan['network']['mode'], 'blocked', f'{how}: network')
        same_as_predicted(world, server)
        client = talks(server.connect())
        for directory, read, write in ((readable, True, False), (writable, True, True), (outside, False, True)):
            expect_works(client, how, read, 'read', path=str(directory / 'file'))
            expect_works(client, how, write, 'write', path=str(directory / 'file'), text='x')
        expect_works(client, how, True, 'write', path=str(writable / f'new-{how}'), text='x')
        expect_works(client, how, False, 'write', path=str(outside / f'new-{how}'), text='x')
        expect_works(client, how, False, 'socket', family=socket.AF_INET, type=socket.SOCK_DGRAM)
        expect_works(client, how, False, 'socket', family=socket.AF_INET)


@case(timeout=60)
def a_port_list_closes_what_it_does_not_name(world):
    with socket.create_server(('127.0.0.1', 0)) as listed, socket.create_server(('127.0.0.1', 0)) as other:
        port = listed.getsockname()[1]
        for how, server in both(world, {**VERSION, 'network': {'ports': {'connect': [port]}}}).items():
            plan = asked(world, 'show', server)[0]['plan']
            expect_equal((plan['network']['connect_ports'], plan['network']['bind_ports']), ([port], []), f'{how}: ports')
            client = talks(server.connect())
            expect_works(client, how, True, 'socket', family=socket.AF_INET, address=['127.0.0.1', port])
            if 'tcp-connect' not in plan['missing']:
                expect_works(client, how, False, 'socket', family=socket.AF_INET, address=list(other.getsockname()))
            expect_works(client, how, False, 'socket', family=socket.AF_INET, type=socket.SOCK_DGRAM)


WRONG = {
    **VERSION,
    'netwrok': {'mode': 'blocked'},
    'filesystem': {
        'grants': [{'path': '/srv/mcp-cases/none', 'access': 'read'}, {'path': '/etc', 'access': 'raed'}],
        'deny': [{'path': '/etc/shadow'}],
    },
    'resources': {'memory_bytes': 1, 'cpu': 5},
}
SAID = {
    ('/netwrok', '"network"'),
    ('/filesystem/grants/0', 'does not exist'),
    ('/filesystem/grants/1/access', '"raed"'),
    ('/filesystem/deny/0', '/etc'),
    ('/resources', 'supervis'),
    ('/resources/cpu', '"cpu"'),
}


@case(timeout=60)
def all_that_is_wrong_is_said_before_and_at_a_start(world):
    for how, server in both(world, WRONG).items():
        (verdict,), status = asked(world, 'check', server)
        expect_equal(status, 2, f'{how}: exit status of mcpctl check')
        prefix = '/isolation/manifest' if how == 'inline' else ''
        file = server.file if how == 'inline' else world.definitions / f'beside-{world.kind}.manifest'
        errors = [p for p in verdict['problems'] if p['level'] == 'error']
        expect_equal(len(errors), len(SAID), f'{how}: errors in {errors}')
        for pointer, word in SAID:
            found = [p for p in errors if p['pointer'] == prefix + pointer]
            expect(found and word in found[0]['message'], f'{how}: {pointer} with {word} in {errors}')
        for p in errors:
            expect_equal(p['file'], str(file), f'{how}: file')
            expect(p['line'] and p['column'] and p['remedy'], f'{how}: place and remedy in {p}')
        same_as_predicted(world, server)
