#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Debian package of a suite as that distribution's reviewers look at it.

  test-deb.py SUITE
"""

import functools
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'tree')]

import builds
import roots
from cases import case, run

SUITE = sys.argv[1]
DEB = builds.TREE / 'packaging/deb'

# What debhelper makes and no file of ours does; in them "#DEBHELPER#" stands for it.
OWN_SCRIPTS = {
    'postinst': 'No helper knows units that a generator makes.',
    'postrm': 'No helper takes back what sysusers.d and StateDirectory= made.',
}
HELPERS = ('deb-systemd-helper', 'deb-systemd-invoke', 'systemd-tmpfiles', 'systemd-sysusers', 'daemon-reload')


@functools.cache
def unpacked():
    """The package's files, and in DEBIAN what dpkg knows of it."""
    roots.run(['dpkg-deb', '--raw-extract', builds.deb(SUITE), SCRATCH.name])
    return pathlib.Path(SCRATCH.name)


def programs():
    for path in sorted(unpacked().rglob('*')):
        if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b'\x7fELF':
            yield path


@functools.cache
def seen_from_inside():
    """What the suite's own tools say of the packages: lintian, and the version of the policy that is in force."""
    with roots.Workshop(lower=roots.root(SUITE, 'build')) as workshop:
        shutil.copytree(builds.deb_directory(SUITE), workshop.root / 'srv/mcp')
        changes = builds.only(workshop.root / 'srv/mcp', '*.changes')
        found = workshop.call(
            *('lintian', '--allow-root', '--display-info', '--display-experimental', '--pedantic', '--fail-on', 'none'),
            f'/srv/mcp/{changes.name}',
        )
        policy = workshop.call('dpkg-query', '-W', '-f', '${Version}', 'debian-policy')
    return found.splitlines(), policy


def source_field(name):
    text = builds.only(builds.deb_directory(SUITE), '*.dsc').read_text(encoding='utf-8')
    return re.search(rf'^{name}: (.*)$', text, re.MULTILINE)[1]


@case
def it_builds_with_nothing_but_its_build_dependencies_and_its_tests_run():
    found = re.search(r'^Ok: +(\d+)', builds.log(builds.deb_directory(SUITE)), re.MULTILINE)
    failed = re.search(r'^Fail: +(\d+)', builds.log(builds.deb_directory(SUITE)), re.MULTILINE)
    if not found or int(found[1]) < 30 or not failed or failed[1] != '0':
        yield f'unit tests of the build: {found and found[0]}, {failed and failed[0]}'


@case
def built_by_another_elsewhere_and_later_it_is_the_same():
    first, second = builds.deb_directory(SUITE), builds.deb_directory(SUITE, 'varied')
    names = [p.name for p in sorted(first.iterdir()) if re.search(r'\.(deb|dsc|tar\.xz)$', p.name)]
    if len(names) != 5:
        yield f'expected two packages and three parts of a source, found {names}'
    for name in names:
        if not (second / name).exists():
            yield f'{name}: not built the second time'
        elif (first / name).read_bytes() != (second / name).read_bytes():
            yield f'{first / name} and {second / name} differ'


@case
def lintian_has_nothing_to_say():
    yield from (line for line in seen_from_inside()[0] if re.match(r'[EWIPX]: ', line))


@case
def every_override_has_its_reason():
    for path in (DEB / 'mcp-systemd.lintian-overrides', DEB / 'source/lintian-overrides'):
        blocks = re.split(r'\n\n+', path.read_text(encoding='utf-8').strip())
        yield from (f'{path.name}: {b}' for b in blocks[1:] if not b.startswith('# '))
        if len(blocks) < 2:
            yield f'{path.name}: no override'


@case
def the_policy_is_the_one_in_force():
    policy = '.'.join(seen_from_inside()[1].split('.')[:3])
    if source_field('Standards-Version') != policy:
        yield f'Standards-Version {source_field("Standards-Version")}, but the policy here is {policy}'


@case
def programs_are_hardened():
    found = list(programs())
    if len(found) < 6:
        yield f'only {len(found)} programs'
    for path in found:
        header, dynamic = roots.run(['readelf', '-hlW', path]), roots.run(['readelf', '-dW', path])
        symbols = roots.run(['readelf', '--dyn-syms', '-W', path])
        for wanted, text in (
            ('Type: +DYN', header),
            ('GNU_RELRO', header),
            ('BIND_NOW|FLAGS.*NOW', dynamic),
            ('PIE', dynamic),
            ('__stack_chk_fail', symbols),
            ('_chk@', symbols),
        ):
            if not re.search(wanted, text):
                yield f'{path.name}: no {wanted}'
        if re.search(r'GNU_STACK.*RWE', header) or 'RUNPATH' in dynamic or 'RPATH' in dynamic:
            yield f'{path.name}: an executable stack, or a path of its own for libraries'


@case
def every_call_of_the_compiler_hardens():
    """All that this suite's dpkg-buildflags know."""
    done = roots.run(['blhc', '--all', '--debian', builds.deb_directory(SUITE) / 'log'], status=range(256))
    yield from (line for line in done.splitlines() if line.strip())
    if 'dpkg-buildpackage: info: source version' not in builds.log(builds.deb_directory(SUITE)):
        yield 'that was no log of dpkg-buildpackage'


@case
def no_maintainer_script_does_what_a_helper_does():
    for path in sorted(DEB.glob('*')):
        kind = path.suffix[1:] or path.name
        if kind not in ('preinst', 'postinst', 'prerm', 'postrm', 'config'):
            continue
        text = path.read_text(encoding='utf-8')
        if OWN_SCRIPTS.get(kind, '?') not in text or '#DEBHELPER#' not in text:
            yield f'{path.name}: without a reason, or without its helpers'
        yield from (f'{path.name}: {helper}' for helper in HELPERS if helper in text)
    made = '\n'.join(p.read_text(encoding='utf-8') for p in sorted((unpacked() / 'DEBIAN').glob('p*')))
    # deb-systemd-helper enables units, and none of ours has anything to enable.
    yield from (f'{h}: no script has it' for h in HELPERS if h not in made and h != 'deb-systemd-helper')


@case
def nothing_is_a_configuration_file():
    if (unpacked() / 'DEBIAN/conffiles').exists():
        yield (unpacked() / 'DEBIAN/conffiles').read_text(encoding='utf-8')


@case
def piuparts_finds_nothing_left():
    """Installed, removed and purged where nothing is booted, with its dependencies gone before the purge."""
    command = ['piuparts', '--no-upgrade-test', '--keep-sources-list', '--distribution', SUITE, '--tmpdir', '/var/tmp']
    # Of Debian 13 itself: links of systemd that lead nowhere yet, and a directory of debconf that Debian 12's piuparts
    # does not know.
    command += ['--no-symlinks', '--ignore', '/var/cache/debconf/tmp.ci/']
    done = roots.run([*command, '--existing-chroot', roots.root(SUITE), builds.deb(SUITE)], status=range(256))
    yield from (line for line in done.splitlines() if re.search(r' (ERROR|WARN|FAIL)', line))
    if 'PASS: All tests.' not in done:
        yield done[-2000:]


SCRATCH = tempfile.TemporaryDirectory(prefix='mcp-deb-')

if __name__ == '__main__':
    sys.exit(run())
