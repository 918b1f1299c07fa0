#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Image-based systems in booted containers: nothing but /usr; a system extension; definitions for a fleet.

  test-images.py SUITE (usr | extension)
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import builds
import roots
from story import Machine, Skip, eventually, expect, expect_equal, tell

SUITE, WHICH = sys.argv[1:]
DEMO = {'command': '/usr/libexec/mcp-demo-server'}
SOCKET = 'mcp-server@demo.socket'


def serves(machine, server='demo'):
    machine.do('mcpctl', 'probe', server)
    client = machine.session(server)
    expect(f'/mcp.slice/mcp-{server}-' in client.call('whoami')['content'][0]['text'], 'the server is in no scope')
    expect_equal(client.call('write_file', path='/var/tmp/denied', content='x').get('isError'), True, 'a denied write')
    expect_equal(client.close(), 0, 'exit status of mcp-connect')


# -- nothing but /usr ------------------------------------------------------------


class UsrOnly(Machine):
    """Boots with /etc and /var empty, as an image does for the first time."""

    def _prepare_root(self):
        self.prepare(self.root)
        for name in ('etc', 'var', 'root', 'srv', 'opt', 'home'):
            shutil.rmtree(self.root / name, ignore_errors=True)
        for name in ('etc', 'var'):
            (self.root / name).mkdir()
        # How a container without a terminal and without hardware is told to boot, in its image.
        for unit in ('console-getty.service', 'getty.target', 'systemd-firstboot.service', 'systemd-homed-firstboot.service'):
            target = self.root / 'usr/lib/systemd/system' / unit
            target.unlink(missing_ok=True)
            target.symlink_to('/dev/null')


def usr_only():
    deb = builds.deb(SUITE)

    def prepare(root):
        shutil.copy(deb, root / 'srv/current.deb')
        roots.apt(root, 'install', '/srv/current.deb')
        (root / 'usr/lib/mcp/servers.d/demo.json').write_text(json.dumps(DEMO), encoding='utf-8')

    return UsrOnly(roots.root(SUITE), prepare)


def etc_has_nothing_of_ours(machine):
    expect(not machine.exists('/etc/mcp'), '/etc/mcp is there')


def the_group_and_the_directory_came_with_the_boot(machine):
    machine.do('getent', 'group', 'mcp')
    machine.do('test', '-d', '/run/mcp')


def a_server_of_the_image_listens_and_serves(machine):
    expect_equal(machine.state(SOCKET), 'active', SOCKET)
    serves(machine)


def etc_still_has_nothing_of_ours(machine):
    etc_has_nothing_of_ours(machine)


# -- a system extension ------------------------------------------------------------


def extension():
    made = builds.sysext(SUITE)
    scratch = pathlib.Path(SCRATCH.name)
    (scratch / 'fleet.json').write_text(json.dumps(DEMO), encoding='utf-8')
    subprocess.run([builds.TREE / 'packaging/build-confext', f'--output={scratch}', 'fleet', scratch / 'fleet.json'],
                   stdout=subprocess.DEVNULL, check=True)

    def prepare(root):
        roots.apt(root, 'install', *roots.LIBRARIES[SUITE])
        shutil.copytree(made / 'mcp-systemd', root / 'var/lib/extensions/mcp-systemd', symlinks=True)
        shutil.copytree(scratch / 'fleet', root / 'var/lib/confexts/fleet', symlinks=True)
        # Merged by the test, so that it is seen to be what brings everything.
        for unit in ('systemd-sysext.service', 'systemd-confext.service'):
            link = root / 'etc/systemd/system' / unit
            link.unlink(missing_ok=True)
            link.symlink_to('/dev/null')

    return Machine(roots.root(SUITE), prepare)


def version_of_systemd(machine):
    return int(machine.do('systemctl', '--version').split()[1])


def contents(directory):
    """Path → what it is, and who may do what with it."""
    found = {}
    for path in directory.rglob('*'):
        what = os.readlink(path) if path.is_symlink() else path.is_file() and path.read_bytes()
        found[str(path.relative_to(directory))] = (oct(path.lstat().st_mode), path.lstat().st_uid, what)
    return found


def the_images_hold_what_the_directories_do(_machine):
    """There is no loop device in a container to merge an image from."""
    for image in (builds.sysext(SUITE) / 'mcp-systemd.raw', pathlib.Path(SCRATCH.name) / 'fleet.raw'):
        unpacked = pathlib.Path(SCRATCH.name) / f'unpacked-{image.stem}'
        roots.run(['unsquashfs', '-quiet', '-no-progress', '-dest', unpacked, image])
        expect_equal(contents(unpacked), contents(image.with_suffix('')), str(image))


def nothing_is_there_before(machine):
    expect(not machine.exists('/usr/bin/mcpctl'), 'mcpctl is there')


def the_extension_merges(machine):
    machine.do('systemd-sysext', 'merge')
    expect('mcp-systemd' in machine.do('systemd-sysext', 'status'), 'systemd-sysext status does not have it')
    if version_of_systemd(machine) < 255:
        machine.do('systemctl', 'daemon-reload')
    eventually(lambda: machine.state('mcp-sysext.service') == 'active', 'mcp-sysext.service is active')
    machine.do('getent', 'group', 'mcp')


def a_definition_in_etc_is_served(machine):
    machine.write('/etc/mcp/servers.d/demo.json', DEMO)
    machine.do('/usr/libexec/mcp-definitions-changed')
    expect_equal(machine.state(SOCKET), 'active', SOCKET)
    serves(machine)


def definitions_of_a_fleet_are_served(machine):
    if version_of_systemd(machine) < 254:
        raise Skip('systemd-confext came with systemd 254')
    machine.do('systemd-confext', 'merge')
    machine.do('systemctl', 'daemon-reload')
    machine.do('systemctl', 'start', 'mcp-server@fleet.socket')
    serves(machine, 'fleet')
    expect_equal(machine.show('mcp-server@fleet.socket', 'SourcePath'), '/etc/mcp/servers.d/fleet.json', 'SourcePath')
    machine.do('systemctl', 'stop', 'mcp-server@fleet.socket', 'mcp-server@fleet.service')
    machine.do('systemd-confext', 'unmerge')
    machine.do('systemctl', 'daemon-reload')
    expect_equal(machine.show('mcp-server@fleet.socket', 'LoadState'), 'not-found', 'load state after unmerging')


def it_goes_as_it_came(machine):
    machine.do('systemctl', 'stop', 'mcp.slice')
    machine.do('systemd-sysext', 'unmerge')
    machine.do('systemctl', 'daemon-reload')
    nothing_is_there_before(machine)
    expect_equal(machine.show(SOCKET, 'LoadState'), 'not-found', 'load state after unmerging')


STORIES = {
    'usr': (usr_only, [
        etc_has_nothing_of_ours,
        the_group_and_the_directory_came_with_the_boot,
        a_server_of_the_image_listens_and_serves,
        etc_still_has_nothing_of_ours,
    ]),
    'extension': (extension, [
        the_images_hold_what_the_directories_do,
        nothing_is_there_before,
        the_extension_merges,
        a_definition_in_etc_is_served,
        definitions_of_a_fleet_are_served,
        it_goes_as_it_came,
    ]),
}

SCRATCH = tempfile.TemporaryDirectory(prefix='mcp-images-')

if __name__ == '__main__':
    sys.exit(tell(f'{SUITE}, {WHICH}', *STORIES[WHICH]))
