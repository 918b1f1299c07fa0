# SPDX-License-Identifier: LGPL-2.1-or-later
"""The packages under test, built from what is committed and kept in build-packaging by commit."""

import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import time

import roots

TREE = roots.TREE
PREVIOUS = '0.0.1'
A_WEEK = 7 * 24 * 3600

# The unit tests are another suite's business.
QUICKLY = {'DEB_BUILD_OPTIONS': f'nocheck parallel={os.cpu_count()}'}


def run(command, **kwargs):
    return roots.run(command, **kwargs)


def git(*arguments, tree=TREE):
    return run(['git', '-c', f'safe.directory={tree}', '-C', tree, *arguments]).strip()


@functools.cache
def place():
    """Where the packages of what is committed are; the tests of packages change none."""
    files = [line for line in git('ls-tree', '-r', 'HEAD').splitlines() if '\ttests/packaging/' not in line]
    found = roots.CACHE / 'packages' / hashlib.sha256('\n'.join(files).encode()).hexdigest()[:12]
    found.mkdir(parents=True, exist_ok=True)
    for other in found.parent.iterdir():
        if time.time() - other.stat().st_mtime > A_WEEK:
            shutil.rmtree(other)
    return found


def machine_suite():
    release = dict(
        line.split('=', 1)
        for line in pathlib.Path('/etc/os-release').read_text(encoding='utf-8').splitlines()
        if '=' in line
    )
    return release.get('VERSION_CODENAME', '').strip('"')


def once(directory, make):
    """make(directory) is called if it wasn't, or didn't finish."""
    if not (directory / 'finished').exists():
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        make(directory)
        (directory / 'finished').touch()
    return directory


def only(directory, pattern):
    found = sorted(directory.glob(pattern))
    if len(found) != 1:
        raise roots.RootError(f'{directory}: {pattern} is {[f.name for f in found]}')
    return found[0]


def tarball(release='current'):
    """The tarball of what is committed, or of the same with a lower version number."""

    def make(directory):
        tree = TREE
        if release == 'previous':
            tree = directory / 'tree'
            git('clone', '--quiet', TREE, str(tree))
            lower_version(tree)
        run([tree / 'packaging/build-tarball', '--no-tests', f'--output={directory}'])

    return only(once(place() / f'tarball-{release}', make), '*.tar.xz')


def lower_version(tree):
    """The version is in meson.build, and what is new in NEWS.md: nothing else has to be touched."""
    for name, pattern, new in (
        ('meson.build', r"(?m)^(\s+version : ')[^']+(')", rf'\g<1>{PREVIOUS}\g<2>'),
        ('packaging/NEWS.md', r'(?m)^## \S+ \(', f'## {PREVIOUS} ('),
    ):
        path = tree / name
        path.write_text(re.sub(pattern, new, path.read_text(encoding='utf-8'), count=1), encoding='utf-8')
    git('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '-qam', 'tests: lower', tree=tree)


def deb_directory(suite, release='current', attempt=1):
    """Where dpkg-buildpackage left a suite's packages: on this machine, or in a root of that suite."""
    source = tarball(release)

    def make(directory):
        if suite == machine_suite():
            run(
                [TREE / 'packaging/build-deb', f'--tarball={source}', f'--output={directory}'],
                env={**os.environ, **QUICKLY},
            )
        else:
            build_in_root(suite, source, directory, QUICKLY)

    return once(place() / f'{suite}-{release}-{attempt}', make)


def deb(suite, release='current'):
    return only(deb_directory(suite, release), 'mcp-systemd_*.deb')


def build_in_root(suite, source, directory, options, script='build-deb', group='deb'):
    root = roots.root(suite, 'build')
    work = root / 'srv/mcp'
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(TREE / 'packaging', work / 'packaging')
    shutil.copy(source, work)
    with roots.network(root):
        for needed in ('build', group):
            roots.inside(root, '/srv/mcp/packaging/install-deps', needed)
        roots.inside(
            root,
            f'/srv/mcp/packaging/{script}',
            f'--tarball=/srv/mcp/{source.name}',
            '--output=/srv/mcp/out',
            **options,
        )
    shutil.copytree(work / 'out', directory, symlinks=True, dirs_exist_ok=True)


def sysext(suite):
    """Where the directory and the image of the system extension for a suite are."""

    def make(directory):
        if suite == machine_suite():
            run([TREE / 'packaging/build-sysext', f'--tarball={tarball()}', f'--output={directory}'])
        else:
            build_in_root(suite, tarball(), directory, {}, 'build-sysext', 'image')

    return once(place() / f'{suite}-sysext', make)


def rpm():
    def make(directory):
        run([TREE / 'packaging/build-rpm', '--nocheck', f'--tarball={tarball()}', f'--output={directory}'])

    return once(place() / 'rpm', make)


def arch():
    def make(directory):
        run([TREE / 'packaging/build-arch', '--nocheck', f'--tarball={tarball()}', f'--output={directory}'])

    return once(place() / 'arch', make)


def example_deb(directory, definition, name='weather-mcp', version='1'):
    """A package of an MCP server as FOR-PACKAGERS.md has it: one file and no script."""
    tree = directory / f'{name}-{version}'
    file = tree / f'usr/lib/mcp/servers.d/{name}.json'
    file.parent.mkdir(parents=True)
    file.write_text(definition, encoding='utf-8')
    control = tree / 'DEBIAN/control'
    control.parent.mkdir()
    control.write_text(
        f'Package: {name}\nVersion: {version}\nArchitecture: all\nDepends: mcp-systemd\n'
        'Maintainer: tests <tests@localhost>\nDescription: an MCP server, for tests\n',
        encoding='utf-8',
    )
    target = directory / f'{name}_{version}_all.deb'
    subprocess.run(
        ['dpkg-deb', '--root-owner-group', '--build', tree, target], stdout=subprocess.DEVNULL, check=True
    )
    return target
