# SPDX-License-Identifier: LGPL-2.1-or-later
"""Definitions become units: which, when, and what they must not contain."""

import json
import os
import pathlib
import pwd

from checks import nothing_left, talks
from harness import case, eventually, expect, expect_equal
from world import FIXTURES

HONEST = {'command': '/usr/bin/python3', 'args': ['-ISB', str(FIXTURES / 'server.py'), 'honest']}
SECRET = 'canary-4f1d9c'


def generated(world):
    """The directory of the manager's generated units of normal priority."""
    return world.units / 'generator'


def unit_text(world, server):
    return world.systemctl('cat', server.unit, server.socket_unit).stdout


def why_not(world, server):
    """Everything that a person sees who asks why a unit didn't start; "preset: enabled" is no reason."""
    status = world.run(
        ['systemctl', world.flag, 'status', '--no-pager', '-l', server.unit, server.socket_unit]
    )
    shown = [line for line in status.stdout.splitlines() if 'Loaded:' not in line]
    return '\n'.join([*shown, *(str(r.get('MESSAGE')) for r in world.journal(f'MCP_SERVER={server.name}'))])


def verify(world, *units):
    """What systemd-analyze says, which doesn't look at generated units by itself."""
    done = world.run(
        ['systemd-analyze', world.flag, 'verify', *units],
        env={'SYSTEMD_UNIT_PATH': f'{generated(world)}:'},
        timeout=60,
    )
    return done.stderr


def start_fails(world, server, *words):
    """The start must fail, and the reason must be there to read."""
    expect(world.systemctl('start', server.unit, check=False).returncode != 0, f'{server.unit} started')
    text = why_not(world, server)
    missing = [w for w in words if w not in text]
    expect(not missing, f'the reason does not name {missing}:\n{text}')
    expect(world.property(server.unit, 'NRestarts') in ('0', ''), 'systemd restarts what can never work')


@case
def a_definition_becomes_units_that_systemd_has_nothing_to_say_about(world):
    server = world.fixture('honest', start=False)
    world.reload()
    expect((generated(world) / server.socket_unit).is_file(), f'{server.socket_unit} was not generated')
    expect_equal(verify(world, server.socket_unit, server.unit), '', 'systemd-analyze verify')
    expect_equal(world.property(server.socket_unit, 'SourcePath'), str(server.file), 'SourcePath')
    expect_equal(world.property(server.socket_unit, 'LoadState'), 'loaded', 'LoadState')


@case
def an_enabled_server_is_wanted_and_a_disabled_one_refuses(world):
    on = world.define(HONEST, start=False)
    off = world.define({**HONEST, 'enabled': False}, start=False)
    world.reload()
    wants = generated(world) / 'sockets.target.wants'
    expect((wants / on.socket_unit).is_symlink(), 'no link for the enabled server')
    expect(not (wants / off.socket_unit).is_symlink(), 'a link for the disabled server')
    start_fails(world, off, 'enabled')


@case
def a_quarantined_server_refuses(world):
    server = world.define({**HONEST, 'quarantined': True}, start=False)
    world.reload()
    start_fails(world, server, 'quarantined')


@case
def a_broken_file_costs_its_own_server_alone(world):
    broken = world.define(HONEST, start=False)
    world.write(broken.file, '{\n  "command": "/usr/bin/true",\n  "args": [1,]\n}\n')
    good = world.fixture('honest')
    start_fails(world, broken, f'{broken.name}.json', '3:')
    talks(good.connect())


@case
def every_problem_of_a_file_is_told_at_once(world):
    server = world.define(HONEST, start=False)
    world.write(
        server.file,
        json.dumps({'command': 7, 'isolation': {'wirte': []}, 'limits': {'tasks': 'many'}}, indent=1),
    )
    world.reload()
    start_fails(world, server, '/command', '/isolation/wirte', 'write', '/limits/tasks')


@case
def text_from_json_cannot_inject_into_a_unit(world):
    work = world.directory('inject')
    target = work / 'made-by-injection'
    evil = f'x"\n[Service]\nExecStartPre=/bin/touch {target}\n%n$HOME\\'
    server = world.define(
        {**HONEST, 'args': [*HONEST['args'], evil], 'env': {'EVIL': evil}, 'working_dir': str(work)}
    )
    client = talks(server.connect())
    where = json.loads(client.call('where')[0])
    expect_equal(where['argv'][-1], evil, 'the argument')
    expect_equal(json.loads(client.call('environment')[0])['EVIL'], evil, 'the variable')
    expect(not target.exists(), 'a line of JSON became a line of a unit')


@case
def odd_names_become_units_and_back(world):
    for name in ('github-mcp', 'a.b:c_1', 'name with space', 'tab\there', 'per%cent', 'ümlaut', 'a@b'):
        instance = ''.join(
            c if c.isascii() and (c.isalnum() or c in '_.:-') else ''.join(f'\\x{b:02x}' for b in c.encode())
            for c in name
        )
        file = world.write(world.definitions / f'{name}.json', json.dumps(HONEST))
        try:
            world.reload()
            unit = f'mcp-server@{instance}.socket'
            expect(
                (generated(world) / unit).is_file(),
                f'{name!r} gave {os.listdir(generated(world))} instead of {unit}',
            )
            expect_equal(world.property(unit, 'LoadState'), 'loaded', f'LoadState of {name!r}')
            if ':' not in unit:  # "verify A:B" checks A as if it were called B
                expect_equal(verify(world, unit), '', f'systemd-analyze verify of {name!r}')
        finally:
            file.unlink()


@case
def no_secret_is_in_a_unit_a_property_or_a_command_line(world):
    server = world.fixture('honest', SECRET + '-arg', env={'TOKEN': SECRET + '-env'})
    talks(server.connect()).close()
    seen = (
        unit_text(world, server)
        + world.systemctl('show', server.unit, server.socket_unit).stdout
        + why_not(world, server)
    )
    seen += ''.join(
        str(r)
        for r in world.journal(f'MCP_SERVER={server.name}')
        if r.get('SYSLOG_IDENTIFIER') != f'mcp-{server.name}'
    )
    with open(f'/proc/{server.supervisor}/cmdline', encoding='utf-8') as f:
        seen += f.read()
    expect(
        SECRET not in seen,
        'the canary was seen: ' + next((line for line in seen.splitlines() if SECRET in line), ''),
    )


@case
def a_client_file_is_taken_as_it_is(world):
    world_file = world.definitions.parent / 'mcp.json'
    shapes = {
        'object': {'mcpServers': {'shape-object': {**HONEST, 'type': 'stdio', 'disabled': False}}},
        'array': {
            'docker_isolation': {'enabled': False},
            'mcpServers': [{'name': 'shape-array', 'protocol': 'stdio', 'enabled': True, **HONEST}],
        },
        'vscode': {'servers': {'shape-vscode': {**HONEST, 'type': 'stdio'}}, 'inputs': []},
    }
    for shape, document in shapes.items():
        server = world.define(HONEST, name=f'shape-{shape}', start=False)
        server.file.unlink()
        world.write(world_file, json.dumps(document))
        try:
            world.reload()
            world.systemctl('start', server.socket_unit)
            talks(server.connect(), shape)
            nothing_left_of_unmarked(server)
        finally:
            world_file.unlink()


def nothing_left_of_unmarked(server):
    """The entry of a client file has no mark, so only scopes can be counted."""
    for item in server.world.clients:
        item.kill()
    nothing_left(server)


@case
def the_own_file_wins_over_the_client_file(world):
    file = world.definitions.parent / 'mcp.json'
    world.write(file, json.dumps({'mcpServers': {'twice': {'command': '/bin/false'}}}))
    try:
        talks(world.define(HONEST, name='twice').connect())
    finally:
        file.unlink()


@case
def empty_files_and_links_to_dev_null_mask(world):
    server = world.define(HONEST, start=False)
    weaker = (
        pathlib.Path('/usr/lib/mcp')
        / ('servers.d' if world.kind == 'system' else 'user-servers.d')
        / server.file.name
    )
    world.write(weaker, json.dumps(HONEST), owner='root')
    try:
        for mask in (lambda: world.write(server.file, ''), lambda: os.symlink('/dev/null', server.file)):
            server.file.unlink(missing_ok=True)
            mask()
            world.reload()
            expect(not (generated(world) / server.socket_unit).exists(), 'a masked server has a unit')
        server.file.unlink()
        world.reload()
        expect(
            (generated(world) / server.socket_unit).exists(),
            'the weaker file is not used when nothing masks it',
        )
    finally:
        weaker.unlink()


@case
def files_of_the_wrong_owner_or_mode_are_refused(world):
    server = world.define(HONEST, start=False)
    stranger = str(pwd.getpwnam('stranger').pw_uid)  # no generator may ask for names
    for owner, mode, word in ((world.owner, 0o666, '666'), ('stranger', 0o644, stranger)):
        world.write(server.file, json.dumps(HONEST), mode=mode, owner=owner)
        world.reload()
        start_fails(world, server, str(server.file), word)
        world.systemctl('reset-failed', server.unit, check=False)


@case
def what_is_defined_no_more_is_gone_after_a_reload(world):
    server = world.fixture('honest')
    client = talks(server.connect())
    server.file.unlink()
    world.reload()
    expect_equal(client.call('echo', text='still'), ('still', False), 'a running session keeps its plan')
    client.close()
    world.systemctl('stop', server.socket_unit, server.unit, check=False)
    nothing_left(server)
    expect(not (generated(world) / server.socket_unit).exists(), 'the unit is still there')


@case(managers=['system'])
def the_socket_is_for_the_group_mcp(world):
    server = world.fixture('honest')
    for path in (server.stream, server.control):
        status = os.stat(path)
        expect_equal(status.st_mode & 0o777, 0o660, f'mode of {path}')
        expect(status.st_gid != 0, f'group of {path} is root')


@case
def the_generator_needs_nothing_but_its_three_directories(world):
    """As a manager of version 253 or later runs it: everything else is read-only."""
    server = world.fixture('honest', start=False)
    out = world.directory('generated')
    for name in ('normal', 'early', 'late'):
        (out / name).mkdir()
        (out / name).chmod(0o777)
    binary = f'/usr/lib/systemd/{world.kind}-generators/mcp-server-generator'
    environment = {'SYSTEMD_SCOPE': world.kind, 'HOME': world.home, 'XDG_RUNTIME_DIR': world.sockets.parent}
    done = world.run(
        [
            'systemd-run',
            '--wait',
            '--pipe',
            '--quiet',
            f'--uid={world.owner}',
            '--property=ProtectSystem=strict',
            f'--property=ReadWritePaths={out}',
            *(f'--setenv={name}={value}' for name, value in environment.items()),
            binary,
            *(out / name for name in ('normal', 'early', 'late')),
        ],
        user='root',
    )
    expect_equal(done.returncode, 0, f'exit status ({done.stderr.strip()})')
    expect((out / 'normal' / server.socket_unit).is_file(), f'no unit in {os.listdir(out / "normal")}')
    eventually(
        lambda: not os.listdir(out / 'early') and not os.listdir(out / 'late'),
        'the other directories stay empty',
        1,
    )
