#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tests that the source package brings, run by autopkgtest in a booted container.

  test-autopkgtest.py SUITE
"""

import re
import shutil
import sys

import builds
import roots
from story import Machine, expect, expect_equal, tell

SUITE = sys.argv[1]
PLACE = '/srv/packages'


def the_tests_of_the_package_pass(machine):
    """It installs what a test depends on, and the package; the container is what the tests want to be isolated in."""
    directory = builds.deb_directory(SUITE)
    machine.do(
        'autopkgtest',
        '--output-dir=/var/tmp/autopkgtest',
        '--ignore-restrictions=isolation-container',
        f'{PLACE}/{builds.only(directory, "*.dsc").name}',
        f'{PLACE}/{builds.deb(SUITE).name}',
        '--',
        'null',
        timeout=600,
    )
    summary = machine.do('cat', '/var/tmp/autopkgtest/summary')
    tests = re.findall(r'^Tests: (\S+)$', (builds.TREE / 'packaging/deb/tests/control').read_text(), re.MULTILINE)
    expect(len(tests) >= 2, f'tests: {tests}')
    expect_equal(sorted(re.findall(r'^(\S+) +PASS$', summary, re.MULTILINE)), sorted(tests), f'what passed of\n{summary}\n')


def they_leave_nothing_behind(machine):
    for path in ('/var/lib/mcp/autopkgtest', '/var/lib/private/mcp/autopkgtest', '/etc/mcp/servers.d/autopkgtest.json',
                 '/run/mcp/autopkgtest.sock', '/var/tmp/mcp-autopkgtest'):
        expect(not machine.exists(path), f'{path} is there')
    # systemd stops no slice for being empty; this one goes with the package.
    expect_equal(machine.units('mcp*'), ['mcp.slice'], 'active units')
    expect_equal(machine.do('systemctl', '--failed', '--no-legend'), '', 'failed units')


def nor_does_the_package(machine):
    machine.do('apt-get', '-q', '-y', 'purge', 'mcp-systemd')
    expect_equal(machine.units('mcp*'), [], 'active units')
    expect(not machine.exists('/var/lib/mcp'), '/var/lib/mcp is there')
    expect('mcp' not in machine.do('cut', '-d:', '-f1', '/etc/group').split(), 'the group is there')


def open_machine():
    directory = builds.deb_directory(SUITE)

    def prepare(root):
        roots.apt(root, 'install', 'autopkgtest', 'dpkg-dev')
        shutil.copytree(directory, root / PLACE[1:])

    return Machine(roots.root(SUITE), prepare)


CHAPTERS = [the_tests_of_the_package_pass, they_leave_nothing_behind, nor_does_the_package]

if __name__ == '__main__':
    sys.exit(tell(f'{SUITE}, autopkgtest', open_machine, CHAPTERS))
