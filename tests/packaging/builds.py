# SPDX-License-Identifier: LGPL-2.1-or-later
"""The packages under test, built from what is committed and kept in build-packaging of the tree by what they are built of."""

import fcntl
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

# The unit tests are run in the first build of each kind, and in no other.  Nobody minds how fast the previous release is.
QUICKLY = {'DEB_BUILD_OPTIONS': f'nocheck noopt parallel={os.cpu_count()}'}
CHECKED = {'DEB_BUILD_OPTIONS': f'parallel={os.cpu_count()}'}

# A second build is done by somebody else, elsewhere, some other day, in another language and with another number of jobs.
VARIED = {
    'DEB_BUILD_OPTIONS': 'nocheck parallel=3',
    'HOME': '/srv/elsewhere',
    'TMPDIR': '/srv/elsewhere/a-longer-way',
    'TZ': 'Asia/Kathmandu',
    'LANG': 'tr_TR.UTF-8',
    'LC_ALL': 'tr_TR.UTF-8',
    # Files keep their time, so that ninja sees what is older than what.
    'NO_FAKE_STAT': '1',
}
VARIED_COMMAND = ('faketime', '+400 days', 'sh', '-c', 'umask 0077 && exec "$@"', 'sh')

# As a distribution's builders do it: by nobody, with no home.
UNPRIVILEGED = ('setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups')


def run(command, **kwargs):
    return roots.run(command, **kwargs)


def git(*arguments, tree=TREE):
    return run(['git', '-c', f'safe.directory={tree}', '-C', tree, *arguments]).strip()


@functools.cache
def place():
    """Where the packages of what is committed are; the tests of packages change none."""
    files = [line for line in git('ls-tree', '-r', 'HEAD').splitlines() if '\ttests/packaging/' not in line]
    found = TREE / 'build-packaging' / hashlib.sha256('\n'.join(files).encode()).hexdigest()[:12]
    found.mkdir(parents=True, exist_ok=True)
    for other in found.parent.iterdir():
        if time.time() - other.stat().st_mtime > roots.A_WEEK:
            shutil.rmtree(other)
    return found


def machine_suite():
    release = dict(
        line.split('=', 1)
        for line in pathlib.Path('/etc/os-release').read_text(encoding='utf-8').splitlines()
        if '=' in line
    )
    return release.get('VERSION_CODENAME', '').strip('"')


FAILED = set()


def once(directory, make):
    """make(directory) is called if it wasn't, or didn't finish; what failed fails again at once, without being tried.
    Whoever wants what somebody else is making waits for it."""
    if directory in FAILED:
        raise roots.RootError(f'{directory.name} was not made, as said above')
    with open(directory.with_suffix('.lock'), 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / 'finished').exists():
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir(parents=True)
            try:
                make(directory)
            except roots.RootError:
                FAILED.add(directory)
                raise
            (directory / 'finished').touch()
    return directory


def only(directory, pattern):
    found = sorted(directory.glob(pattern))
    if len(found) != 1:
        raise roots.RootError(f'{directory}: {pattern} is {[f.name for f in found]}')
    return found[0]


def log(directory):
    return (directory / 'log').read_text(encoding='utf-8')


def tarball():
    """What all packages are built from."""

    def make(directory):
        run([TREE / 'packaging/build-tarball', '--no-tests', f'--output={directory}'])

    return only(once(place() / 'tarball', make), '*.tar.xz')


def release():
    """Where the same is, made with its checks."""

    def make(directory):
        run([TREE / 'packaging/build-tarball', f'--output={directory}'], log=directory / 'log')

    return once(place() / 'release', make)


def previous_tree():
    """A clone with a lower version number."""

    def make(directory):
        tree = directory / 'tree'
        git('clone', '--quiet', TREE, str(tree))
        lower_version(tree)

    return once(place() / 'previous', make) / 'tree'


def lower_version(tree):
    """The version is in meson.build, and what is new in NEWS.md: nothing else has to be touched."""
    for name, pattern, new in (
        ('meson.build', r"(?m)^(\s+version : ')[^']+(')", rf'\g<1>{PREVIOUS}\g<2>'),
        ('packaging/NEWS.md', r'(?m)^## \S+ \(', f'## {PREVIOUS} ('),
    ):
        path = tree / name
        path.write_text(re.sub(pattern, new, path.read_text(encoding='utf-8'), count=1), encoding='utf-8')
    git('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '-qam', 'tests: lower', tree=tree)


def deb_directory(suite, how='current'):
    """Where dpkg-buildpackage left a suite's packages.

    current   of the release, with its unit tests, in a root with nothing but the build dependencies
    varied    the same where everything is different that should not matter
    previous  of the release before, in a clean clone: of this machine's own suite by its script on this machine, else by
              dpkg-buildpackage in the tree
    """

    def make(directory):
        if how == 'current':
            build_in_root(suite, directory, tarball(), CHECKED, ('env', '--unset=HOME', *UNPRIVILEGED))
        elif how == 'varied':
            build_in_root(suite, directory, tarball(), VARIED, VARIED_COMMAND)
        elif suite == machine_suite():
            run(
                [previous_tree() / 'packaging/build-deb', f'--output={directory}'],
                log=directory / 'log',
                env={**os.environ, **QUICKLY},
            )
        else:
            build_in_tree(suite, directory, previous_tree(), QUICKLY)

    return once(place() / f'{suite}-{how}', make)


def deb(suite, how='current'):
    return only(deb_directory(suite, how), 'mcp-systemd_*.deb')


def build_in_root(suite, directory, source, environment, prefix=(), script=('build-deb',)):
    """Runs a script of packaging/ in a root that has what the source package asks for."""
    with roots.Workshop(lower=roots.root(suite, 'build')) as workshop:
        work = workshop.root / 'srv/mcp'
        shutil.copytree(TREE / 'packaging', work / 'packaging')
        shutil.copy(source, work)
        for made in (work / 'out', pathlib.Path(f'{workshop.root}{environment.get("TMPDIR", "/tmp")}')):
            made.mkdir(parents=True, exist_ok=True)
        shutil.chown(work / 'out', 'nobody')
        option = '--deb' if source.suffix == '.deb' else '--tarball'
        workshop.call(
            *prefix,
            f'/srv/mcp/packaging/{script[0]}',
            f'{option}=/srv/mcp/{source.name}',
            '--output=/srv/mcp/out',
            log=directory / 'log',
            **environment,
        )
        shutil.copytree(work / 'out', directory, symlinks=True, dirs_exist_ok=True)


def build_in_tree(suite, directory, tree, environment):
    """As people build who have the package's repository before them."""
    with roots.Workshop(lower=roots.root(suite, 'build')) as workshop:
        work = workshop.root / 'srv/mcp'
        shutil.copytree(tree, work / 'tree', symlinks=True)
        workshop.call('/srv/mcp/tree/packaging/build-deb', '--prepare')
        command = ('dpkg-buildpackage', '--build=binary', '--unsigned-changes')
        workshop.call('env', '--chdir=/srv/mcp/tree', *command, log=directory / 'log', **environment)
        for made in work.glob('mcp-systemd*_*'):
            shutil.copy(made, directory)


def sysext(suite):
    """Where the directory and the image of the system extension for a suite are: of the release on this machine, of the
    package elsewhere."""

    def make(directory):
        if suite == machine_suite():
            run([TREE / 'packaging/build-sysext', f'--tarball={tarball()}', f'--output={directory}'])
        else:
            build_in_root(suite, directory, deb(suite), {}, script=('build-sysext',))

    return once(place() / f'{suite}-sysext', make)


def on_this_machine(kind):
    """The RPM or the Arch package, with its unit tests."""

    def make(directory):
        run(
            [TREE / f'packaging/build-{kind}', f'--tarball={tarball()}', f'--output={directory}'],
            log=directory / 'log',
        )

    return once(place() / kind, make)


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
