#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The deb's life in a booted minimal Debian: installed, used, upgraded under a live session, removed, purged.

  test-lifecycle.py SUITE
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import builds
import roots
from story import Machine, eventually, expect, expect_equal, tell

SUITE = sys.argv[1]
DEBS = '/srv/debs'
DEMO = {'command': '/usr/libexec/mcp-demo-server'}
DEMO_FILE = '/etc/mcp/servers.d/demo.json'
EXAMPLE = 'weather-mcp'
PROGRAMS = ('mcp-connect', 'mcp-sandbox', 'mcpctl', '/usr/libexec/mcp-supervisor', '/usr/libexec/mcp-demo-server')
VENDOR = {**DEMO, 'env': {'WHOSE': 'vendor'}}

# What changes when anything at all is installed, and says nothing about us.
NOISE = re.compile(
    r'^/(proc|sys|dev|tmp|srv)(/|$)|^/run/(systemd|log|mount|user|udev|lock|sudo|credentials|host|shm|dbus)(/|$)'
    r'|^/var/(log|cache|tmp|lib/(dpkg|apt|systemd))(/|$)|^/etc/(ld\.so\.cache|[a-z]+-|\.pwd\.lock)$|^/root/'
)

session = None


def apt(machine, *arguments):
    return machine.do(
        'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-q', '-y', '--no-install-recommends', *arguments
    )


def everything(machine):
    """Every path that the administrator could find, but for noise."""
    found = machine.do('find', '/', '-xdev', '-print0').split('\0') + machine.do('find', '/run', '-print0').split('\0')
    return {path for path in found if path and not NOISE.search(path)}


def running(machine):
    """Unit → when it started, of all that runs and is not ours."""
    names = machine.do('systemctl', 'list-units', '--plain', '--no-legend', '--state=running').splitlines()
    return {
        name: machine.show(name, 'MainPID', 'ActiveEnterTimestampMonotonic')
        for name in (line.split()[0] for line in names)
        if name.endswith(('.service', '.socket', '.path'))
    }


def answers(machine, server):
    """A whole session; returns what the server says of itself."""
    client = machine.session(server)
    text = client.call('whoami')['content'][0]['text']
    expect_equal(client.close(), 0, 'exit status of mcp-connect')
    return text


# -- chapters ------------------------------------------------------------------


def what_the_package_needs_is_all_that_it_brings(machine):
    """Dependencies first, so that what is there later is ours."""
    apt(machine, 'install', f'{DEBS}/previous.deb')
    apt(machine, 'purge', 'mcp-systemd')
    machine.before = everything(machine)
    machine.accounts = machine.do('cat', '/etc/passwd', '/etc/group')
    machine.running = running(machine)


def it_installs(machine):
    apt(machine, 'install', f'{DEBS}/previous.deb')
    expect_equal(machine.do('dpkg', '--audit'), '', 'dpkg --audit')
    for program in PROGRAMS:
        expect(builds.PREVIOUS in machine.do(program, '--version'), f'{program} --version is not the package\'s')
    expect_equal(machine.do('systemctl', '--failed', '--no-legend'), '', 'failed units')


def group_directories_and_catalog_are_there(machine):
    machine.do('getent', 'group', 'mcp')
    expect_equal(machine.do('stat', '-c', '%a %U:%G', '/run/mcp').strip(), '2755 root:mcp', '/run/mcp')
    for path in ('/etc/mcp/servers.d', '/usr/lib/mcp/servers.d'):
        expect_equal(machine.do('stat', '-c', '%a %U:%G', path).strip(), '755 root:root', path)
    text = pathlib.Path(builds.TREE, 'units').glob('**/*.catalog')
    ids = [i for file in text for i in re.findall(r'^-- ([0-9a-f]{32})$', file.read_text(encoding='utf-8'), re.M)]
    expect(ids, 'no catalog in the tree')
    listed = machine.do('journalctl', '--list-catalog')
    expect_equal([i for i in ids if i not in listed], [], 'messages that are not in the database')


def it_has_no_conffiles_and_runs_nothing(machine):
    expect_equal(machine.do('dpkg-query', '-W', '-f', '${Conffiles}', 'mcp-systemd').strip(), '', 'conffiles')
    expect_equal(machine.units('mcp*'), [], 'active units')
    expect_equal(machine.do('systemctl', 'is-enabled', 'mcp-server@.service', status=None).strip(), 'disabled', 'the template')


def a_definition_makes_a_server(machine):
    machine.write(DEMO_FILE, DEMO)
    machine.do('mcpctl', 'check', 'demo')
    machine.do('systemctl', 'daemon-reload')
    machine.do('systemctl', 'start', 'mcp-server@demo.socket')
    machine.do('mcpctl', 'probe', 'demo')
    expect('/mcp.slice/mcp-demo-' in answers(machine, 'demo'), 'the server is not in a scope of its own')


def systemd_finds_nothing_wrong_with_the_units(machine):
    """Those of the package and those of its generator, which systemd-analyze doesn't look at by itself."""
    found = machine.do(
        *('env', 'SYSTEMD_UNIT_PATH=/run/systemd/generator:', 'systemd-analyze', '--man=no', 'verify'),
        *('mcp.slice', 'mcp-server@demo.service', 'mcp-server@demo.socket'),
        stderr=subprocess.STDOUT,
    )
    expect_equal([line for line in found.splitlines() if 'mcp' in line], [], 'systemd-analyze verify')


def what_happens_is_explained_in_the_journal(machine):
    text = machine.do('journalctl', '-x', '--no-pager', '-u', 'mcp-server@demo.service')
    expect('Defined-By: mcp-systemd' in text, f'no catalog text in:\n{text}')


def an_upgrade_leaves_the_session_alone(machine):
    global session
    session = machine.session('demo')
    scope = machine.units('mcp-demo-*.scope')
    expect_equal(len(scope), 1, 'scopes')
    machine.supervisor = machine.show('mcp-server@demo.service', 'MainPID')
    before = running(machine)
    stamp = machine.do('stat', '-c', '%Y.%Z', '/run/systemd/generator/mcp-server@demo.socket')
    machine.do('sleep', '1.1')
    apt(machine, 'install', f'{DEBS}/current.deb')
    expect(builds.PREVIOUS not in machine.do('mcpctl', '--version'), 'mcpctl is the old one')
    expect(session.alive(), 'the session ended')
    expect_equal(session.call('echo', text='still there')['content'][0]['text'], 'still there', 'the answer')
    expect_equal(machine.units('mcp-demo-*.scope'), scope, 'scopes')
    after = running(machine)
    expect_equal({k: after.get(k) for k in before}, before, 'what runs, and since when')
    again = machine.do('stat', '-c', '%Y.%Z', '/run/systemd/generator/mcp-server@demo.socket')
    expect(again != stamp, 'the generator did not run again')
    expect_equal(machine.show('mcp-server@demo.service', 'NeedDaemonReload'), 'no', 'NeedDaemonReload')


def the_old_supervisor_serves_new_clients_and_then_makes_room(machine):
    answers(machine, 'demo')
    expect_equal(machine.show('mcp-server@demo.service', 'MainPID'), machine.supervisor, 'supervisor')
    expect_equal(session.close(), 0, 'exit status of the old session')
    machine.do('systemctl', 'stop', 'mcp-server@demo.service')
    answers(machine, 'demo')
    expect(machine.show('mcp-server@demo.service', 'MainPID') != machine.supervisor, 'still the old supervisor')


def what_was_stopped_stays_stopped(machine):
    machine.do('systemctl', 'stop', 'mcp-server@demo.socket', 'mcp-server@demo.service')
    apt(machine, 'install', '--reinstall', f'{DEBS}/current.deb')
    expect_equal(machine.state('mcp-server@demo.socket'), 'inactive', 'the socket that was stopped')
    machine.do('systemctl', 'start', 'mcp-server@demo.socket')


def a_server_package_just_works(machine):
    apt(machine, 'install', f'{DEBS}/{EXAMPLE}_1_all.deb')
    expect_equal(machine.state(f'mcp-server@{EXAMPLE}.socket'), 'active', 'the socket of the new server')
    answers(machine, EXAMPLE)
    expect(EXAMPLE in machine.do('mcpctl', 'list', '--no-pager'), 'mcpctl list does not have it')


def its_upgrade_restarts_nothing(machine):
    client = machine.session(EXAMPLE)
    apt(machine, 'install', f'{DEBS}/{EXAMPLE}_2_all.deb')
    client.call('whoami')
    expect_equal(client.close(), 0, 'exit status of the session')


def the_administrator_replaces_and_masks_it(machine):
    override = f'/etc/mcp/servers.d/{EXAMPLE}.json'
    machine.write(override, {**DEMO, 'enabled': False})
    machine.do('systemctl', 'daemon-reload')
    machine.do('systemctl', 'stop', f'mcp-server@{EXAMPLE}.socket', f'mcp-server@{EXAMPLE}.service')
    expect(not machine.exists(f'/run/systemd/generator/sockets.target.wants/mcp-server@{EXAMPLE}.socket'), 'still enabled')
    expect(override in machine.show(f'mcp-server@{EXAMPLE}.socket', 'SourcePath'), 'the unit is not of the override')
    machine.do('ln', '-sf', '/dev/null', override)
    machine.do('systemctl', 'daemon-reload')
    expect_equal(machine.show(f'mcp-server@{EXAMPLE}.socket', 'LoadState'), 'not-found', 'load state of the masked')
    apt(machine, 'install', '--reinstall', f'{DEBS}/{EXAMPLE}_2_all.deb')
    expect_equal(machine.state(f'mcp-server@{EXAMPLE}.socket'), 'inactive', 'the masked server')
    machine.do('rm', override)
    machine.do('/usr/libexec/mcp-definitions-changed')
    answers_or_started(machine)


def answers_or_started(machine):
    if machine.state(f'mcp-server@{EXAMPLE}.socket') != 'active':
        machine.do('systemctl', 'start', f'mcp-server@{EXAMPLE}.socket')
    answers(machine, EXAMPLE)


def it_goes_with_its_package(machine):
    client = machine.session(EXAMPLE)
    apt(machine, 'purge', EXAMPLE)
    eventually(lambda: not machine.units(f'mcp*{EXAMPLE}*'), 'units of the removed server are gone')
    eventually(lambda: not client.alive(), 'its session ended')
    answers(machine, 'demo')


def removing_ends_every_session_and_keeps_what_the_administrator_wrote(machine):
    client = machine.session('demo')
    client.call('write_file', path='kept.txt', content='data')
    apt(machine, 'remove', 'mcp-systemd')
    eventually(lambda: not client.alive(), 'the session ended')
    expect_equal(machine.units('mcp*'), [], 'active units')
    expect_equal(machine.do('pgrep', '-f', 'libexec/mcp-', status=None), '', 'processes')
    expect_equal(json.loads(machine.do('cat', DEMO_FILE)), DEMO, 'the definition')
    machine.do('test', '-e', '/var/lib/private/mcp/demo/kept.txt')
    expect_equal(machine.do('systemctl', '--failed', '--no-legend'), '', 'failed units')


def installing_again_brings_the_servers_back(machine):
    apt(machine, 'install', f'{DEBS}/current.deb')
    machine.do('systemctl', 'start', 'mcp-server@demo.socket')
    answers(machine, 'demo')
    machine.do('test', '-e', '/var/lib/mcp/demo/kept.txt')


def purging_leaves_nothing_but_what_the_administrator_wrote(machine):
    apt(machine, 'purge', 'mcp-systemd')
    after = everything(machine)
    expect_equal(sorted(after - machine.before), ['/etc/mcp', '/etc/mcp/servers.d', DEMO_FILE], 'what is left')
    expect_equal(sorted(machine.before - after), [], 'what is missing')
    expect_equal(machine.do('cat', '/etc/passwd', '/etc/group'), machine.accounts, 'users and groups')
    expect('mcp' not in machine.do('ls', '/var/lib/private', status=None), '/var/lib/private/mcp is left')
    listed = machine.do('dpkg-query', '-W', '-f', '${db:Status-Status} ${Package}\n')
    expect('mcp-systemd' not in listed, 'dpkg still knows the package')


def nothing_else_was_restarted_by_all_of_this(machine):
    after = running(machine)
    expect_equal({k: after.get(k) for k in machine.running}, machine.running, 'what runs, and since when')


CHAPTERS = [
    what_the_package_needs_is_all_that_it_brings,
    it_installs,
    group_directories_and_catalog_are_there,
    it_has_no_conffiles_and_runs_nothing,
    a_definition_makes_a_server,
    systemd_finds_nothing_wrong_with_the_units,
    what_happens_is_explained_in_the_journal,
    an_upgrade_leaves_the_session_alone,
    the_old_supervisor_serves_new_clients_and_then_makes_room,
    what_was_stopped_stays_stopped,
    a_server_package_just_works,
    its_upgrade_restarts_nothing,
    the_administrator_replaces_and_masks_it,
    it_goes_with_its_package,
    removing_ends_every_session_and_keeps_what_the_administrator_wrote,
    installing_again_brings_the_servers_back,
    purging_leaves_nothing_but_what_the_administrator_wrote,
    nothing_else_was_restarted_by_all_of_this,
]


def main():
    def machine():
        debs = pathlib.Path(scratch)
        for release in ('previous', 'current'):
            shutil.copy(builds.deb(SUITE, release), debs / f'{release}.deb')
        for version in ('1', '2'):
            builds.example_deb(debs, json.dumps(VENDOR), EXAMPLE, version)
        return Machine(roots.root(SUITE), binds=[(debs, DEBS)])

    with tempfile.TemporaryDirectory(prefix='mcp-debs-') as scratch:
        subprocess.run(['chmod', '755', scratch], check=True)
        return tell(SUITE, machine, CHAPTERS)


if __name__ == '__main__':
    sys.exit(main())
