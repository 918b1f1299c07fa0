#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The three packages say the same and hold the same, and the distributions' own tools have nothing to say."""

import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'tree')]

import builds
import roots
from cases import case, run

TREE = builds.TREE
# The machine's own, where it is one that packages are made for.
SUITE = builds.machine_suite() if builds.machine_suite() in roots.LIBRARIES else 'trixie'

# What a format has and the others cannot have.
DEB_ONLY = re.compile(r'^/usr/share/doc/|^/usr/share/lintian/')
RPM_ONLY = re.compile(r'^/usr/(share/(doc|licenses)|lib/\.build-id|src/debug)(/|$)')
ARCH_ONLY = re.compile(r'^/([A-Z]+$|usr/share/(doc|licenses|libalpm)/)')

# One library, three names.
SAME_LIBRARY = {
    'json-c': r'json-c', 'libsystemd': r'libsystemd|systemd-libs',
    'smartcols': r'libsmartcols|util-linux-libs', 'c': r'^libc6|libc\.so|^glibc',
    'tomlplusplus': r'tomlplusplus', 'dbus': r'dbus', 'systemd': r'^systemd\b',
}

# Where Arch has the libraries, which nothing looks up while a package is built.
ARCH_PACKAGES = {
    'libc': 'glibc', 'libm': 'glibc', 'ld-linux-x86-64': 'glibc', 'libgcc_s': 'gcc-libs', 'libstdc++': 'gcc-libs',
    'libjson-c': 'json-c', 'libsystemd': 'systemd-libs', 'libsmartcols': 'util-linux-libs', 'libtomlplusplus': 'tomlplusplus',
}
# The manager that runs the units, and the bus that scopes are asked for on.
NOT_LINKED = {'dbus', 'systemd'}

# Of all three, since they hold the same.
WANTED = (
    *(f'/usr/bin/{name}' for name in ('mcp-connect', 'mcp-sandbox', 'mcpctl')),
    *(f'/usr/share/bash-completion/completions/{name}' for name in ('mcp-connect', 'mcp-sandbox', 'mcpctl')),
    *(f'/usr/share/zsh/site-functions/_{name}' for name in ('mcp-connect', 'mcp-sandbox', 'mcpctl')),
    *(f'/usr/share/fish/vendor_completions.d/{name}.fish' for name in ('mcp-connect', 'mcp-sandbox', 'mcpctl')),
    *(f'/usr/share/man/man1/{name}.1' for name in ('mcp-connect', 'mcp-sandbox', 'mcpctl')),
    '/usr/share/man/man5/mcp-server.json.5',
    '/usr/share/mcp-systemd/mcp-server.schema.json',
    '/usr/share/polkit-1/rules.d/mcp-systemd.rules',
    '/usr/lib/systemd/catalog/mcp-systemd.catalog',
    '/usr/lib/sysusers.d/mcp-systemd.conf',
    '/usr/lib/tmpfiles.d/mcp-systemd.conf',
    *(f'/usr/lib/systemd/{manager}/mcp-server@.service' for manager in ('system', 'user')),
    *(f'/usr/lib/systemd/{manager}-generators/mcp-server-generator' for manager in ('system', 'user')),
)


def output(*command, status=(0,), **kwargs):
    done = subprocess.run([str(c) for c in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **kwargs)
    if done.returncode not in status:
        raise AssertionError(f'{command}: {done.returncode}\n{done.stdout}')
    return done.stdout


def deb():
    return builds.deb(SUITE)


def rpm():
    return builds.only(builds.on_this_machine('rpm'), 'mcp-systemd-[0-9]*.x86_64.rpm')


def arch():
    return builds.only(builds.on_this_machine('arch'), 'mcp-systemd-[0-9]*.pkg.tar.zst')


def normal(path):
    """Merged /usr, one place for helpers, one for man pages whatever compresses them."""
    path = '/' + path.removeprefix('.').strip('/')
    path = re.sub(r'^/lib/', '/usr/lib/', path)
    path = path.replace('/usr/lib/mcp-systemd/', '/usr/libexec/')
    return re.sub(r'^(/usr/share/man/.*)\.gz$', r'\1', path)


def deb_files():
    lines = output('dpkg-deb', '--contents', deb()).splitlines()
    return {normal(line.split()[5]) for line in lines if line[0] != 'd'}


def rpm_files():
    lines = output('rpm', '-qp', '--nosignature', '--qf', '[%{FILEMODES:perms} %{FILENAMES}\n]', rpm()).splitlines()
    return {normal(line.split()[1]) for line in lines if line[0] != 'd'}


def arch_files():
    lines = output('bsdtar', '-tvf', arch()).splitlines()
    return {normal(line.split()[8]) for line in lines if line[0] != 'd'}


def deb_field(name):
    return output('dpkg-deb', '--field', deb(), name).strip()


def rpm_tag(tag):
    return output('rpm', '-qp', '--nosignature', '--qf', f'%{{{tag}}}', rpm()).strip()


def arch_info():
    found = {}
    for line in output('bsdtar', '-xOqf', arch(), '.PKGINFO').splitlines():
        key, mark, value = line.partition(' = ')
        if mark:
            found.setdefault(key, []).append(value)
    return found


def project_version():
    return re.search(r"^\s+version : '([^']+)'", (TREE / 'meson.build').read_text(encoding='utf-8'), re.M)[1]


@case
def all_three_hold_the_same_files():
    have = {
        'deb': {f for f in deb_files() if not DEB_ONLY.search(f)},
        'rpm': {f for f in rpm_files() if not RPM_ONLY.search(f)},
        'arch': {f for f in arch_files() if not ARCH_ONLY.search(f)},
    }
    for path in sorted(set.union(*have.values())):
        missing = [name for name, files in have.items() if path not in files]
        if missing:
            yield f'{path}: not in {", ".join(missing)}'


@case
def all_three_hold_the_same_directories_for_definitions():
    wanted = {f'{top}/{kind}' for top in ('/etc/mcp', '/usr/lib/mcp') for kind in ('servers.d', 'user-servers.d')}
    lists = {
        'deb': {normal(line.split()[5]) for line in output('dpkg-deb', '--contents', deb()).splitlines()},
        'rpm': {normal(line) for line in output('rpm', '-qpl', '--nosignature', rpm()).splitlines()},
        'arch': {normal(line) for line in output('bsdtar', '-tf', arch()).splitlines()},
    }
    for name, files in lists.items():
        yield from (f'{name}: no {path}' for path in sorted(wanted - files))


@case
def the_version_is_that_of_meson_build():
    version = project_version()
    for name, found in (('deb', deb_field('Version')), ('rpm', rpm_tag('VERSION') + '-' + rpm_tag('RELEASE')),
                        ('arch', arch_info()['pkgver'][0])):
        if found.split('-')[0] != version:
            yield f'{name}: {found} instead of {version}'


@case
def the_licence_is_that_of_meson_build():
    licence = re.search(r"^\s+license : '([^']+)'", (TREE / 'meson.build').read_text(encoding='utf-8'), re.M)[1]
    copyright_file = (TREE / 'packaging/deb/copyright').read_text(encoding='utf-8')
    for name, found in (('deb', re.search(r'^License: (\S+)$', copyright_file, re.M)[1]), ('rpm', rpm_tag('LICENSE')),
                        ('arch', arch_info()['license'][0])):
        if found != licence:
            yield f'{name}: {found} instead of {licence}'


@case
def the_summary_is_the_same():
    summaries = {deb_field('Description').splitlines()[0].lower(), rpm_tag('SUMMARY').lower(), arch_info()['pkgdesc'][0].lower()}
    if len(summaries) != 1:
        yield f'{sorted(summaries)}'


@case
def they_depend_on_the_same():
    needs = {
        'deb': re.split(r'\s*[,|]\s*', deb_field('Depends')),
        'rpm': output('rpm', '-qp', '--nosignature', '--requires', rpm()).splitlines(),
        'arch': arch_info()['depend'],
    }
    for library, pattern in SAME_LIBRARY.items():
        for name, found in needs.items():
            if not any(re.search(pattern, need) for need in found):
                yield f'{name}: nothing for {library} in {found}'


@case
def arch_depends_on_what_its_programs_are_linked_to():
    """As namcap looks at a package; rpm and dpkg-shlibdeps do it themselves."""
    needed = set()
    for path in programs('arch', arch()):
        for library in re.findall(r'\(NEEDED\).*\[(.*)\.so', output('readelf', '-dW', path)):
            needed.add(ARCH_PACKAGES.get(library, f'? for {library}'))
    depends = set(arch_info()['depend'])
    yield from (f'{name}: needed, but not depended on' for name in sorted(needed - depends))
    yield from (f'{name}: depended on, but not needed' for name in sorted(depends - needed - NOT_LINKED))


@case
def changelogs_come_from_the_news():
    headline = re.search(r'^## (\S+)', (TREE / 'packaging/NEWS.md').read_text(encoding='utf-8'), re.M)[1]
    with tempfile.TemporaryDirectory() as scratch:
        output('dpkg-deb', '--extract', deb(), scratch)
        changes = output('dpkg-parsechangelog', '--file', f'{scratch}/usr/share/doc/mcp-systemd/changelog.Debian.gz')
    for name, text, wanted in (('deb', changes, f'Version: {headline}-1'),
                               ('rpm', output('rpm', '-qp', '--nosignature', '--changelog', rpm()), f'- {headline}-1')):
        if wanted not in text:
            yield f'{name}: no {wanted!r} in {text}'


@case
def rpmlint_has_nothing_to_say():
    directory = builds.on_this_machine('rpm')
    found = output('rpmlint', '--config', TREE / 'packaging/rpm/rpmlint.toml', *sorted(directory.glob('*.rpm')),
                   directory / 'mcp-systemd.spec', status=range(256))
    yield from (line for line in found.splitlines() if re.search(r': [EW]: ', line))
    if ' 0 errors, 0 warnings' not in found and not re.search(r': [EW]: ', found):
        yield found


@case
def unit_tests_were_run_while_they_were_built():
    for kind in ('rpm', 'arch'):
        counts = dict(re.findall(r'^(Ok|Fail): +(\d+)', builds.log(builds.on_this_machine(kind)), re.MULTILINE))
        if int(counts.get('Ok', 0)) < 30 or counts.get('Fail') != '0':
            yield f'{kind}: {counts}'


@case
def debug_information_is_in_a_package_of_its_own():
    """As each of the distributions does it; Arch keeps it only if makepkg.conf says so."""
    packages = {'deb': deb(), 'rpm': rpm(), 'arch': arch()}
    for name, package in packages.items():
        for path in programs(name, package):
            if '.debug_info' in output('readelf', '-SW', path):
                yield f'{name}: {path.name} is not stripped'
    for name, package in (
        ('dbgsym', builds.only(builds.deb_directory(SUITE), 'mcp-systemd-dbgsym_*.deb')),
        ('debuginfo', builds.only(builds.on_this_machine('rpm'), 'mcp-systemd-debuginfo-*.rpm')),
    ):
        found = list(programs(name, package))
        if not found or any('.debug_info' not in output('readelf', '-SW', path) for path in found):
            yield f'{name}: no debug information in {[path.name for path in found]}'


def programs(name, package):
    """The ELF files of a package, unpacked."""
    place = pathlib.Path(SCRATCH.name) / name
    if not place.exists():
        place.mkdir()
        if package.suffix == '.deb':
            output('dpkg-deb', '--extract', package, place)
        elif package.suffix == '.rpm':
            with subprocess.Popen(['rpm2cpio', package], stdout=subprocess.PIPE) as archive:
                output('bsdtar', '-C', place, '-xf', '-', stdin=archive.stdout)
        else:
            output('bsdtar', '-C', place, '-xf', package)
    for path in sorted(place.rglob('*')):
        if path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b'\x7fELF':
            yield path


@case
def what_people_and_machines_look_for_is_there():
    for wanted in WANTED:
        if not any(re.fullmatch(wanted, path) for path in deb_files()):
            yield f'{wanted}: not in the deb'


SCRATCH = tempfile.TemporaryDirectory(prefix='mcp-formats-')

if __name__ == '__main__':
    sys.exit(run())
