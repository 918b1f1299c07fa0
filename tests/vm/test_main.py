# SPDX-License-Identifier: LGPL-2.1-or-later
"""The main path on this kernel, with real control groups: boot, connect, a write that works and one that doesn't, gone."""

import pathlib

from checks import WAYS, nothing_left
from harness import Skip, case, eventually, expect, expect_equal
from world import landlock_abi

DEMO = '/usr/libexec/mcp-demo-server'


def demo(world, **keys):
    return world.define({'command': DEMO, **keys})


def write(client, path):
    """Whether the demo server could write it, and what it says."""
    text, failed = client.call('write_file', path=str(path), content='x')
    return not failed, text


def wrote_only_inside(world, client, inside, outside):
    client.initialize()
    good, text = write(client, inside / 'file')
    expect(good, f'the write inside failed: {text}')
    good, text = write(client, outside / 'file')
    # Without Landlock a system service still has the read-only mounts of its unit.
    wanted = landlock_abi() == 0 and world.kind == 'user'
    expect_equal(good, wanted, f'a write outside works ({text})')
    expect(wanted or text.startswith(('EACCES', 'EROFS')), f'the denial is told as {text!r}')


@case(managers=('system',))
def a_definition_from_before_the_boot_is_served(world):
    """Nobody has called systemctl for it: the generator and sockets.target did."""
    expect_equal(world.property('mcp-server@demo.socket', 'ActiveState'), 'active', 'its socket')
    for path, good in (('/var/lib/mcp/demo/file', True), ('/srv/file', landlock_abi() == 0)):
        done = world.run(['mcpctl', 'call', 'demo', 'write_file', f'{{"path": "{path}", "content": "x"}}'], timeout=60)
        # With no Landlock the unit's own read-only mounts are left.
        expect(good == (done.returncode == 0) or 'EROFS' in done.stdout, f'{path}: {done.stdout}{done.stderr}')
    probe = world.run(['mcpctl', 'probe', 'demo'], timeout=60)
    expect(probe.returncode == 0 and 'mcp-demo-server' in probe.stdout, f'probe: {probe.stdout}{probe.stderr}')
    eventually(lambda: not scopes_of(world, 'demo'), 'no scope of it')


def scopes_of(world, name):
    return world.systemctl('list-units', '--plain', '--no-legend', f'mcp-{name}-*.scope').stdout.split()


@case
def writes_work_inside_and_fail_outside_both_ways(world):
    inside, outside = world.directory('inside'), world.directory('outside')
    server = demo(world, isolation={'write': [str(inside)]})
    for way in WAYS:
        client = server.open(way)
        wrote_only_inside(world, client, inside, outside)
        expect(server.scopes(), 'it has no scope')
        client.close()
        nothing_left(server)


@case
def its_scope_has_real_controllers(world):
    server = demo(world, limits={'memory': '256M', 'tasks': 40, 'cpu': '150%'})
    client = server.connect()
    client.initialize()
    (scope,) = server.cgroups()
    for name, wanted in (('memory.max', str(256 << 20)), ('pids.max', '40'), ('cpu.max', '150000 100000')):
        expect_equal(pathlib.Path(scope, name).read_text(encoding='ascii').strip(), wanted, name)
    status = world.property(server.unit, 'StatusText')
    expect('missing: memory' not in status and 'tasks' not in status, f'the status is {status!r}')
    client.close()
    nothing_left(server)


@case
def without_landlock_best_effort_starts_and_says_so_everywhere(world):
    if landlock_abi() > 0:
        raise Skip('this kernel has Landlock')
    server = demo(world)
    client = server.connect()
    client.initialize()
    for what, text in (
        ('systemctl', world.systemctl('status', server.unit, check=False).stdout),
        ('mcpctl', world.run(['mcpctl', world.flag, 'status', server.name]).stdout),
        ('the journal', '\n'.join(r['MESSAGE'] for r in world.journal(f'MCP_SERVER={server.name}'))),
    ):
        expect('DEGRADED/unconfined' in text, f'{what} does not say it: {text}')


@case
def without_landlock_strict_is_refused_with_row_and_kernel(world):
    if landlock_abi() > 0:
        raise Skip('this kernel has Landlock')
    server = demo(world, isolation={'enforcement': 'strict'})
    client = server.connect()
    expect_equal(client.wait(), 3, 'exit status of mcp-connect')
    told = client.stderr_text()
    # The row, what it needs and has not found, and the kernel that has it.
    for word in ('fs-write', 'Landlock ABI 1', "not in the kernel's lsm= list", 'Linux 5.13'):
        expect(word in told, f'{word} is not in {told!r}')
    start = world.systemctl('start', server.unit, check=False)
    expect(start.returncode != 0, 'systemctl start says that all is well')
    expect_equal(world.property(server.unit, 'ExecMainStatus'), '3', 'exit status of the service')

