# SPDX-License-Identifier: LGPL-2.1-or-later
"""Faults of everything around a session, and what it must survive."""

import os
import signal
import subprocess

from checks import QUICK_STOP, WAYS, nothing_left, talks
from harness import case, eventually, expect, expect_equal


def still_talks(client):
    expect_equal(client.call('echo', text='still'), ('still', False), 'echo')


@case(timeout=60)
def sessions_survive_daemon_reload_and_reexec(world):
    server = world.fixture('honest')
    clients = [talks(server.open(way)) for way in WAYS]
    for verb in ('daemon-reload', 'daemon-reexec'):
        world.systemctl(verb)
        eventually(
            lambda: world.systemctl('is-active', server.unit, check=False).returncode == 0,
            f'the manager is back after {verb}',
        )
        for client in clients:
            still_talks(client)
    for client in clients:
        client.close()
    nothing_left(server)
    talks(server.connect())


@case(timeout=60)
def sessions_start_during_a_storm_of_reloads(world):
    server = world.fixture('honest', sessions={'max': 20})
    storm = [
        world.popen(['sh', '-c', f'for i in 1 2 3 4 5 6 7 8; do systemctl {world.flag} daemon-reload; done'])
        for _ in range(2)
    ]
    for number in range(10):
        client = talks(server.open(WAYS[number % 2]))
        client.close()
    for process in storm:
        expect_equal(process.wait(30), 0, 'the storm')
    nothing_left(server)


@case(managers=['user'], timeout=60)
def the_bus_may_restart_in_mid_session(world):
    """The user's bus; the supervisor must find back to its manager for the teardown."""
    server = world.fixture('ignore_both', stop=QUICK_STOP)
    client = talks(server.connect())
    world.systemctl('restart', 'dbus.service')
    still_talks(client)
    client.close()
    nothing_left(server, 20)
    talks(server.connect())


@case
def a_killed_supervisor_is_replaced_for_the_next_client(world):
    server = world.fixture('daemonize', stop=QUICK_STOP)
    for signum in (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT):
        client = talks(server.connect())
        os.kill(server.supervisor, signum)
        nothing_left(server)
        client.kill()
        talks(server.connect(), 'again').close()
        nothing_left(server)


@case
def a_stopped_supervisor_does_not_hold_a_stop_up_for_ever(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    talks(server.connect())
    os.kill(server.supervisor, signal.SIGSTOP)
    world.run(['systemctl', world.flag, 'kill', '--signal=KILL', server.unit], check=True)
    nothing_left(server)


@case
def the_definition_may_change_in_mid_session(world):
    server = world.fixture('honest', env={'GENERATION': 'one'})
    first = talks(server.connect())
    server.write({**server.definition, 'env': {'GENERATION': 'two'}})
    world.reload()
    world.systemctl(
        'reload-or-restart' if world.property(server.unit, 'CanReload') != 'yes' else 'reload', server.unit
    )
    second = talks(server.connect())
    expect('"two"' in second.call('environment')[0], 'a new session still has the old definition')
    if world.property(server.unit, 'CanReload') == 'yes':
        expect('"one"' in first.call('environment')[0], 'the running session changed')


@case
def two_clients_at_the_same_moment_start_one_supervisor(world):
    server = world.fixture('honest')
    clients = [server.connect() for _ in range(4)]  # none waits for the one before
    for client in clients:
        talks(client)
    mine = subprocess.run(
        ['pgrep', '-c', '-f', f'mcp-supervisor.*{server.name}$'], capture_output=True, text=True, check=False
    )
    expect_equal(mine.stdout.strip(), '1', 'supervisors of the server')


@case
def one_servers_trouble_is_not_anothers(world):
    good, bad = world.fixture('honest'), world.fixture('fork_loop', stop=QUICK_STOP, limits={'tasks': 50})
    client = talks(good.connect())
    for _ in range(3):
        talks(bad.connect()).kill()
    still_talks(client)
    nothing_left(bad)


@case
def a_flood_on_stderr_does_not_block_the_server(world):
    client = world.fixture('flood_stderr', str(8 << 20)).connect()
    talks(client)
