# SPDX-License-Identifier: LGPL-2.1-or-later
"""Faults of everything around a session, and what it must survive."""

import os
import pathlib
import shutil
import signal
import subprocess
import time

from checks import QUICK_STOP, WAYS, nothing_left, talks
from harness import case, eventually, expect, expect_equal
from world import FIXTURES, MEMBER, ids_of, prepare


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


@case(timeout=60)
def the_bus_may_restart_between_two_launches(world):
    server = world.fixture('honest')
    talks(server.connect()).close()
    nothing_left(server)
    pid = server.supervisor
    world.systemctl('restart', 'dbus.service')
    for way in WAYS:
        talks(server.open(way), f'after over {way}').close()
        nothing_left(server, 20)
    expect_equal(server.supervisor, pid, 'MainPID')


@case(timeout=120)
def sessions_start_during_a_storm_of_reexecs(world):
    """Half of the calls to a manager that executes itself anew are answered by nobody."""
    server = world.fixture('honest', sessions={'max': 20})
    storm = world.popen(['sh', '-c', f'for i in 1 2 3 4 5 6; do systemctl {world.flag} daemon-reexec; done'])
    for number in range(6):
        client = server.open(WAYS[number % 2])
        client.request('tools/list', timeout=30)
        client.close()
    storm.wait(60)
    nothing_left(server, 30)
    talks(server.connect()).close()
    nothing_left(server)


@case(timeout=60)
def the_watchdog_ends_a_supervisor_that_hangs(world):
    server = world.fixture('daemonize', stop=QUICK_STOP, start=False)
    drop_in = world.units / world.kind / f'{server.unit}.d/90-watchdog.conf'
    world.write(drop_in, '[Service]\nWatchdogSec=1s\nTimeoutAbortSec=1s\n')
    world.reload()
    world.systemctl('start', server.socket_unit)
    client = talks(server.connect())
    pid = server.supervisor
    os.kill(pid, signal.SIGSTOP)
    eventually(lambda: server.supervisor != pid, 'another supervisor, or none', 15)
    nothing_left(server)
    client.kill()
    talks(server.connect()).close()
    nothing_left(server)
    shutil.rmtree(drop_in.parent)


@case
def signals_by_systemctl_do_what_they_do_elsewhere(world):
    """SIGHUP reads the definition again, SIGTERM and SIGINT stop."""
    server = world.fixture('honest', stop=QUICK_STOP)
    client = talks(server.connect())
    world.systemctl('kill', '--kill-whom=main', '--signal=HUP', server.unit)
    time.sleep(0.3)
    still_talks(client)
    for signum in ('TERM', 'INT'):
        world.systemctl('kill', '--kill-whom=main', f'--signal={signum}', server.unit)
        client.read_rest()
        nothing_left(server)
        eventually(lambda: server.supervisor == 0, 'the supervisor has gone')
        expect_equal(world.property(server.unit, 'Result'), 'success', 'Result')
        client = talks(server.connect())


@case
def a_library_that_is_preloaded_everywhere_finds_what_it_needs(world):
    """A logger of commands, as in snoopy(8): its execve() looks up symbols and allocates in the server's process."""
    library, preload = pathlib.Path('/usr/local/lib/mcp-preload.so'), pathlib.Path('/etc/ld.so.preload')
    compile_it = ['cc', '-O1', '-Wall', '-Wextra', '-Werror', '-D_GNU_SOURCE', '-shared', '-fPIC']
    subprocess.run([*compile_it, '-o', str(library), str(FIXTURES / 'preload.c')], check=True)
    preload.write_text(f'{library}\n', encoding='utf-8')
    try:
        server = world.fixture('honest')
        talks(server.connect()).close()
        nothing_left(server)
        expect(str(library) in pathlib.Path(f'/proc/{server.supervisor}/maps').read_text(), 'it is not loaded')
    finally:
        preload.unlink()
    # What is loaded stays, and so does what it needs.
    talks(server.connect()).close()
    nothing_left(server)


def events_of(world, server):
    return [r['MESSAGE'] for r in world.journal(f'MCP_SERVER={server.name}') if 'MESSAGE_ID' in r]


def journald():
    done = subprocess.run(
        ['systemctl', 'show', '-P', 'MainPID', 'systemd-journald.service'],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


# A user's manager waits itself, ten seconds with each of its own messages (the send timeout of systemd's log.c).
@case(managers=['system'], timeout=60)
def a_journald_that_stands_still_holds_nothing_up_and_loses_no_event(world):
    server = world.fixture('flood_stderr', str(1 << 20), stop=QUICK_STOP)
    pid = journald()
    os.kill(pid, signal.SIGSTOP)
    try:
        for way in WAYS:
            began = time.monotonic()
            talks(server.open(way)).close()
            nothing_left(server)
            expect(time.monotonic() - began < 10, 'the session waited for the journal')
    finally:
        os.kill(pid, signal.SIGCONT)
    eventually(
        lambda: len([m for m in events_of(world, server) if ' started in ' in m]) == 2
        and len([m for m in events_of(world, server) if ' ended: ' in m]) == 2,
        lambda: f'two starts and two ends among {events_of(world, server)}',
    )


@case(timeout=60)
def a_journald_that_is_down_loses_no_event(world):
    server = world.fixture('honest')
    talks(server.connect()).close()
    nothing_left(server)
    units = ['systemd-journald.service', 'systemd-journald.socket', 'systemd-journald-dev-log.socket']
    subprocess.run(['systemctl', 'stop', *units], check=True, capture_output=True)
    try:
        talks(server.dial()).close()
        nothing_left(server)
    finally:
        subprocess.run(['systemctl', 'start', *units], check=True, capture_output=True)
    eventually(
        lambda: len([m for m in events_of(world, server) if ' ended: ' in m]) == 2,
        lambda: f'two ends among {events_of(world, server)}',
    )


@case
def the_definition_may_go_in_mid_session(world):
    """Who has a server keeps it; who comes later is told that there is none."""
    server = world.fixture('honest')
    client = talks(server.connect())
    server.file.unlink()
    world.reload()
    still_talks(client)
    world.systemctl('reload', server.unit)
    still_talks(client)
    late = server.connect()
    expect(late.wait() != 0, 'a server that has no definition was started')
    told = late.stderr_text()
    expect('definition' in told, f'the client was told: {told!r}')
    still_talks(client)
    client.close()
    nothing_left(server)
    eventually(lambda: server.supervisor == 0, 'the supervisor has gone')


def member_manager(verb):
    subprocess.run(
        ['systemctl', verb, f'user@{ids_of(MEMBER)[0]}.service'], check=True, capture_output=True, timeout=60
    )


def login():
    """A session of member as a login makes one, for as long as the process lives; it says so first."""
    argv = ['systemd-run', '-q', '--wait', '--pipe', '-p', 'PAMName=login', '-p', f'User={MEMBER}']
    process = subprocess.Popen(
        [*argv, 'sh', '-c', 'echo in; read -r _'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    expect_equal(process.stdout.readline(), 'in\n', 'login')
    return process


def manager_is_gone():
    state = subprocess.run(
        ['systemctl', 'is-active', f'user@{ids_of(MEMBER)[0]}.service'],
        capture_output=True,
        text=True,
        check=False,
    )
    return state.stdout.strip() in ('inactive', 'failed')


@case(managers=['user'], timeout=120)
def a_user_who_logs_out_takes_the_servers_along(world):
    """logind ends the manager ten seconds after the last logout (UserStopDelaySec=)."""
    subprocess.run(['loginctl', 'disable-linger', MEMBER], check=True, timeout=20)
    member_manager('stop')
    try:
        with login() as session:
            server = world.fixture('ignore_both', stop=QUICK_STOP)
            clients = [talks(server.open(way)) for way in WAYS]
            session.communicate('out\n', timeout=20)
        eventually(lambda: not server.processes(), lambda: f'processes left: {server.processes()}', 40)
        eventually(manager_is_gone, 'the end of the manager', 40)
        expect_equal(server.cgroups(), [], 'groups left')
        for client in clients:
            client.kill()
    finally:
        prepare()
    world.systemctl('start', server.socket_unit)
    talks(server.connect()).close()
    nothing_left(server)


@case(managers=['user'], timeout=90)
def with_linger_servers_outlive_a_logout(world):
    """It is left on: without it logind would end the manager that the other cases have."""
    subprocess.run(['loginctl', 'enable-linger', MEMBER], check=True, timeout=20)
    with login() as session:
        server = world.fixture('honest')
        client = talks(server.connect())
        session.communicate('out\n', timeout=20)
    time.sleep(12)
    still_talks(client)
    client.close()
    nothing_left(server)
    talks(server.dial()).close()
    nothing_left(server)


PROGRAMS = ('libexec/mcp-supervisor', 'bin/mcp-connect', 'bin/mcp-sandbox')


def upgrade():
    """What a package manager does: each program anew under its name, then a daemon-reload of each manager."""
    for name in PROGRAMS:
        path = pathlib.Path('/usr') / name
        new = path.with_name(path.name + '.dpkg-new')
        shutil.copy2(path, new)
        new.rename(path)
    subprocess.run(['systemctl', 'daemon-reload'], check=True, timeout=30)


@case(timeout=60)
def an_upgrade_cuts_no_session(world):
    server = world.fixture('honest', stop=QUICK_STOP)
    clients = [talks(server.open(way)) for way in WAYS]
    pid, scopes = server.supervisor, sorted(server.scopes())
    upgrade()
    world.reload()
    for client in clients:
        still_talks(client)
    expect_equal(server.supervisor, pid, 'MainPID')
    expect_equal(sorted(server.scopes()), scopes, 'scopes')
    expect(os.readlink(f'/proc/{pid}/exe').endswith(' (deleted)'), 'the supervisor was not replaced on disk')
    talks(server.connect(), 'new client, old supervisor').close()
    # What a reload after it does: the old program reads the definition as it is now.
    server.write({**server.definition, 'env': {'GENERATION': 'after the upgrade'}})
    world.systemctl('reload', server.unit)
    expect_equal(server.supervisor, pid, 'MainPID after a reload')
    late = talks(server.connect())
    expect('after the upgrade' in late.call('environment')[0], 'a reload after the upgrade was not heard')
    late.close()
    for client in clients:
        still_talks(client)
        client.close()
    nothing_left(server)
    world.systemctl('try-restart', server.unit)
    expect(not os.readlink(f'/proc/{server.supervisor}/exe').endswith(' (deleted)'), 'still the old program')
    talks(server.connect(), 'new supervisor').close()
    nothing_left(server)


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
    server = world.fixture('flood_stderr', str(8 << 20))
    client = talks(server.connect())
    client.close()
    nothing_left(server)

    def lines():
        return [str(r['MESSAGE']) for r in world.journal(f'SYSLOG_IDENTIFIER=mcp-{server.name}')]

    eventually(lambda: any('were suppressed' in line for line in lines()), 'a note of what was suppressed')
    written = (8 << 20) // 200
    expect(len(lines()) < written // 4, f'{len(lines())} of {written} lines are in the journal')
