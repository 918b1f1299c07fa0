#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The release tarball that all packages are built from."""

import os
import pathlib
import re
import shutil
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / 'tree')]

import builds
import roots
from cases import case, run

FILLED_IN = ('packaging/deb/changelog', 'packaging/rpm/mcp-systemd.spec', 'packaging/arch/PKGBUILD')


def members():
    """Path below the top directory → member, of everything that is no directory."""
    with tarfile.open(builds.tarball()) as archive:
        found = archive.getmembers()
    return {m.name.partition('/')[2]: m for m in found if not m.isdir()}


def unpacked():
    place = pathlib.Path(SCRATCH.name) / 'unpacked'
    if not place.exists():
        place.mkdir()
        roots.run(['tar', '-C', place, '--strip-components=1', '-xf', builds.tarball()])
    return place


@case
def it_is_built_and_tested_when_it_is_made():
    counts = dict(re.findall(r'^(\w+): +(\d+)', builds.log(builds.release()), re.MULTILINE))
    if int(counts.get('Ok', 0)) < 40 or counts.get('Fail') != '0' or counts.get('Timeout') != '0':
        yield f'meson dist says {counts}'
    if builds.only(builds.release(), '*.tar.xz').read_bytes() != builds.tarball().read_bytes():
        yield 'it is not what packages are built from here'


@case
def it_is_the_same_when_it_is_made_again():
    with tempfile.TemporaryDirectory(prefix='mcp-again-', dir='/var/tmp') as elsewhere:
        roots.run(
            ['sh', '-c', 'umask 0077 && exec "$@"', 'sh', builds.TREE / 'packaging/build-tarball', '--no-tests',
             f'--output={elsewhere}/out'],
            env={**os.environ, 'TMPDIR': elsewhere, 'TZ': 'Asia/Kathmandu'},
        )  # fmt: skip
        again = builds.only(pathlib.Path(elsewhere) / 'out', '*.tar.xz')
        if again.name != builds.tarball().name or again.read_bytes() != builds.tarball().read_bytes():
            yield 'it differs'


@case
def it_holds_what_is_committed_and_nothing_else():
    committed = set(builds.git('ls-tree', '-r', '--name-only', 'HEAD').splitlines())
    yield from (f'{name}: only in the tarball' for name in sorted(members().keys() - committed))
    yield from (f'{name}: only in the repository' for name in sorted(committed - members().keys()))


@case
def version_and_changelogs_are_filled_in():
    version = builds.tarball().name.removeprefix('mcp-systemd-').removesuffix('.tar.xz')
    for name in FILLED_IN:
        text = (unpacked() / name).read_text(encoding='utf-8')
        if re.search(r'@[A-Z]+@', text) or version not in text:
            yield f'{name}: something is not filled in'
        if version in (builds.TREE / name).read_text(encoding='utf-8'):
            yield f'{name}: holds the version, which belongs into meson.build'


@case
def a_version_without_news_is_refused():
    tree = pathlib.Path(SCRATCH.name) / 'news'
    shutil.copytree(builds.TREE / 'packaging', tree / 'packaging')
    done = roots.run(
        ['python3', '-B', tree / 'packaging/fill-in-dist', '99.9'], status=(1,), env={**os.environ, 'MESON_DIST_ROOT': str(tree)}
    )
    if 'write what is new' not in done:
        yield done


@case
def packagers_are_told_of_every_option():
    options = re.findall(r"^option\('([^']+)'", (unpacked() / 'meson_options.txt').read_text(encoding='utf-8'), re.MULTILINE)
    page = (unpacked() / 'packaging/FOR-PACKAGERS.md').read_text(encoding='utf-8')
    if not options:
        yield 'no option was found'
    yield from (f'-D{name}= is not in FOR-PACKAGERS.md' for name in options if f'`-D{name}=' not in page)


@case
def reuse_finds_copyright_and_licence_of_every_file():
    """It looks for the licence's text in a directory that our top level does not have."""
    (unpacked() / 'LICENSES').mkdir()
    shutil.copy(unpacked() / 'LICENSE', unpacked() / 'LICENSES/LGPL-2.1-or-later.txt')
    found = roots.run(['reuse', '--root', unpacked(), 'lint'], status=(0, 1))
    if 'compliant with version 3' not in found or 'ERROR' in found:
        yield from found.splitlines()
    used = re.search(r'^\* Used licenses: (.*)$', found, re.MULTILINE)
    told = re.findall(r'^License: (.*)$', (unpacked() / 'packaging/deb/copyright').read_text(encoding='utf-8'), re.MULTILINE)
    if not used or set(used[1].split(', ')) != set(told):
        yield f'{used and used[0]}, but debian/copyright tells of {told}'


SCRATCH = tempfile.TemporaryDirectory(prefix='mcp-tarball-')

if __name__ == '__main__':
    sys.exit(run())
