# SPDX-License-Identifier: LGPL-2.1-or-later
"""The programs that people and clients call: mcp-connect, mcpctl, mcp-sandbox."""

import json
import signal

from checks import QUICK_STOP, nothing_left, talks
from harness import case, eventually, expect, expect_equal
from world import MEMBER, STRANGER


@case
def an_unknown_server_is_service_unavailable(world):
    done = world.run(['mcp-connect', world.flag, 'no-such-server'], user=MEMBER)
    expect_equal(done.returncode, 69, 'exit status')
    expect('no-such-server' in done.stderr, f'it is not named: {done.stderr!r}')
    expect_equal(done.stdout, '', 'stdout, which belongs to the protocol')


@case(managers=['user'])
def a_clients_bare_environment_is_enough(world):
    """The official SDK passes HOME, LOGNAME, PATH, SHELL, TERM and USER on to a server's command, nothing else."""
    server = world.fixture('exit', '5')
    done = world.run(
        [
            'env',
            '-u',
            'XDG_RUNTIME_DIR',
            '-u',
            'DBUS_SESSION_BUS_ADDRESS',
            'mcp-connect',
            '--user',
            server.name,
        ]
    )
    expect_equal(done.returncode, 5, f'exit status ({done.stderr.strip()})')


@case
def wrong_usage_is_two(world):
    for argv in (
        ['mcp-connect'],
        ['mcp-connect', '--no-such-option', 'x'],
        ['mcpctl', 'no-such-verb'],
        ['mcp-sandbox'],
        ['mcp-connect', world.flag, 'one', 'two'],
    ):
        done = world.run(argv, user=MEMBER)
        expect_equal(done.returncode, 2, f'exit status of {argv} ({done.stderr.strip()})')
        expect(done.stderr, f'{argv} says nothing')


@case
def help_and_version_work_everywhere(world):
    for program in ('mcp-connect', 'mcpctl', 'mcp-sandbox'):
        for option in ('--help', '--version'):
            done = world.run([program, option], user=MEMBER)
            expect(done.returncode == 0 and done.stdout, f'{program} {option} gave {done.returncode}')
            wide = [line for line in done.stdout.splitlines() if len(line) > 80 or not line.isascii()]
            expect(not wide, f'{program} {option}: more than 80 columns of ASCII: {wide}')


@case(managers=['system'])
def a_stranger_is_refused(world):
    server = world.fixture('honest')
    refused = server.connect(user=STRANGER)
    expect_equal(refused.wait(), 69, 'exit status')
    expect(refused.stderr_text(), 'no reason is told')
    nothing_left(server)


@case(managers=['system'])
def access_names_users_and_groups(world):
    server = world.fixture('honest', access={'users': [STRANGER]})
    talks(server.connect(user=STRANGER))
    expect(
        server.connect(user=MEMBER).wait() != 0, 'the group mcp is let in although access does not name it'
    )


@case(managers=['user'])
def another_users_server_is_out_of_reach(world):
    server = world.fixture('honest')
    try:
        server.dial(user=STRANGER)
    except PermissionError:
        return
    raise AssertionError('the stranger could connect')


@case(managers=['user'])
def another_users_runtime_directory_is_told_and_a_missing_one_has_a_remedy(world):
    """What su and sudo leave behind, and a person whose manager doesn't run."""
    server = world.fixture('honest')
    argv = ['mcp-connect', '--user', server.name]
    done = world.run(argv, user=STRANGER, env={'XDG_RUNTIME_DIR': str(world.sockets.parent)})
    expect_equal(done.returncode, 69, 'exit status')
    expect(str(server.control) in done.stderr and 'another user' in done.stderr, f'it says {done.stderr!r}')
    done = world.run(['env', '-u', 'XDG_RUNTIME_DIR', *argv], user=STRANGER)
    expect_equal(done.returncode, 69, 'exit status')
    expect('XDG_RUNTIME_DIR' in done.stderr and 'loginctl enable-linger' in done.stderr, f'it says {done.stderr!r}')


@case
def a_server_cannot_be_a_client_of_a_server(world):
    """Same uid or not: what runs in one of our scopes is refused by our sockets."""
    inner = world.fixture('honest')
    outer = world.define(
        {
            'command': '/usr/bin/mcp-connect',
            'args': [world.flag, inner.name],
            'isolation': {'unix_sockets': 'any'},
            'access': {'groups': ['mcp']},
        }
    )
    client = outer.connect()
    expect(client.wait() != 0, 'the inner server was reached')
    expect_equal(inner.processes(), [], 'processes of the inner server')


@case
def mcp_connect_passes_a_signal_on_as_its_end(world):
    server = world.fixture('ignore_both', stop=QUICK_STOP)
    for signum in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        client = talks(server.connect())
        client.process.send_signal(signum)
        eventually(lambda: client.process.poll() is not None, f'mcp-connect ends on {signum.name}')
        nothing_left(server)


def ctl(world, *args, user=None, check=True):
    return world.run(['mcpctl', world.flag, *args], user=user or world.owner, check=check, timeout=40)


@case
def list_shows_every_server_in_text_and_json(world):
    good = world.fixture('honest')
    bad = world.define({'command': 7}, start=False)
    world.reload()
    text = ctl(world, 'list').stdout
    expect(good.name in text and bad.name in text, f'not all are listed: {text}')
    listed = ctl(world, 'list', '--json').stdout
    expect(good.name in listed and bad.name in listed, f'not all are listed: {listed}')
    json.loads(listed)


@case
def status_counts_sessions_and_names_what_is_enforced(world):
    server = world.fixture('honest')
    talks(server.connect())
    text = ctl(world, 'status', server.name).stdout
    expect(server.name in text and '1' in text, f'status says {text!r}')
    json.loads(ctl(world, 'status', '--json', server.name).stdout)


@case
def show_prints_the_plan_that_is_applied(world):
    inside = world.directory('shown')
    server = world.fixture('honest', isolation={'write': [str(inside)]})
    expect(str(inside) in ctl(world, 'show', server.name).stdout, 'the grant is not shown')
    plan = ctl(world, 'show', '--json', server.name).stdout
    expect(str(inside) in plan, 'the grant is not in the JSON')
    json.loads(plan)


@case
def check_says_where_and_what_is_wrong(world):
    server = world.define({'command': '/bin/cat', 'isolation': {'wirte': []}}, start=False)
    done = ctl(world, 'check', server.name, check=False)
    expect(done.returncode != 0, 'check is content')
    text = done.stdout + done.stderr
    expect(all(w in text for w in (server.file.name, '/isolation/wirte', 'write')), f'check says {text!r}')
    good = world.fixture('honest', start=False)
    ctl(world, 'check', good.name)


PROBES = {
    'honest': (True, ('fixture',)),
    'noise': (False, ('Starting server on stdio',)),
    'lsp': (False, ('LSP',)),
    'wrong_id': (False, ('answered with an id',)),
    'silent': (False, ('did not answer',)),
    'exit': (False, ('status 1', 'no key given')),
}


def probe_case(mode, well, words):
    def run(world):
        args = ('1', 'no key given') if mode == 'exit' else ()
        server = world.fixture(mode, *args, stop=QUICK_STOP, init_timeout='3s')
        done = ctl(world, 'probe', server.name, check=False, user=MEMBER)
        text = done.stdout + done.stderr
        expect((done.returncode == 0) == well, f'probe exited with {done.returncode}: {text}')
        expect(all(w.lower() in text.lower() for w in words), f'probe does not say {words}: {text!r}')
        nothing_left(server)

    run.__name__ = f'probe of a server that is {mode}'
    run.__module__ = __name__
    case(timeout=60)(run)


for _mode, (_well, _words) in PROBES.items():
    probe_case(_mode, _well, _words)


@case
def probe_tells_the_era_tools_and_time_in_json(world):
    server = world.fixture('honest')
    result = json.loads(ctl(world, 'probe', '--json', server.name, user=MEMBER).stdout)
    text = json.dumps(result)
    expect('legacy' in text and 'fixture' in text and 'echo' in text, f'probe says {text}')


@case(managers=['system'])
def check_misses_groups_and_users_that_are_not_there(world):
    server = world.fixture('honest', access={'groups': ['no-such-group']}, start=False)
    done = ctl(world, 'check', server.name, check=False)
    expect_equal(done.returncode, 2, f'exit status: {done.stdout}')
    expect('There is no group "no-such-group"' in done.stdout, done.stdout)
    several = world.fixture('honest', access={'groups': ['mcp'], 'users': ['no-such-user']}, start=False)
    done = ctl(world, 'check', several.name, check=False)
    expect_equal(done.returncode, 0, f'exit status: {done.stdout}')
    expect('There is no user "no-such-user"' in done.stdout, done.stdout)


@case
def tools_and_call_tell_what_went_wrong_as_probe_does(world):
    server = world.fixture('silent')
    for operands in (['tools', server.name], ['call', server.name, 'echo']):
        done = ctl(world, '--timeout=1s', *operands, check=False)
        expect_equal(done.returncode, 1, f'exit status of {operands}: {done.stderr}')
        expect('MCP-E-SLOW-START' in done.stderr, f'{operands}: {done.stderr}')


@case(managers=['user'])
def mcp_sandbox_confines_without_a_manager(world):
    inside, outside = world.directory('sandbox-in'), world.directory('sandbox-out')
    file = world.write(
        inside / 'definition.json', json.dumps({'command': '/bin/sh', 'isolation': {'write': [str(inside)]}})
    )

    def attempt(path):
        return world.run(
            ['mcp-sandbox', '--definition', file, '--', '/bin/sh', '-c', f'echo x > {path}/file']
        )

    expect_equal(attempt(inside).returncode, 0, 'write inside')
    done = attempt(outside)
    expect(done.returncode != 0 and 'denied' in done.stderr.lower(), f'write outside: {done}')
    expect_equal(world.run(['mcp-sandbox', '--', '/bin/sh', '-c', 'exit 5']).returncode, 5, 'exit status')
    expect_equal(world.run(['mcp-sandbox', '--', '/nonexistent']).returncode, 127, 'not found')
    plan = world.run(
        ['mcp-sandbox', '--definition', file, '--dry-run', '--json', '--', '/bin/sh'], check=True
    )
    expect(str(inside) in plan.stdout, 'the dry run does not show the grant')
    json.loads(plan.stdout)
