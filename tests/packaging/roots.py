# SPDX-License-Identifier: LGPL-2.1-or-later
"""Debian roots for building packages and for trying them, kept in $XDG_CACHE_HOME/mcp-systemd/packaging (~/.cache).

They come from the mirror that the machine itself is configured with; no other is ever asked.  A root is named by what
goes into it, and never changed once it is made: whoever uses it gets an overlay, or makes one.  What cases install later
is fetched when a root is made, so that they need no network.
"""

import contextlib
import dataclasses
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'bed'))

import container as bed

TREE = HERE.parents[1]
CACHE = pathlib.Path(os.environ.get('XDG_CACHE_HOME') or '~/.cache').expanduser() / 'mcp-systemd/packaging'
A_WEEK = 7 * 24 * 3600

# What our programs need to run, by the suites' names.
LIBRARIES = {
    suite: ('dbus', 'libjson-c5', 'libsmartcols1', toml)
    for suite, toml in {'bookworm': 'libtomlplusplus3', 'trixie': 'libtomlplusplus3t64'}.items()
}


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What goes into a root."""

    suite: str
    packages: tuple  # what debootstrap is told to include
    build_depends: str = ''  # of a source package, as its control has them
    tools: tuple = ()  # installed as well
    fetched: tuple = ()  # only downloaded
    locale: str = ''  # made, so that somebody can build in it

    def key(self):
        return hashlib.sha256(repr(self).encode()).hexdigest()[:8]


def recipe(suite, flavour):
    if flavour == 'minimal':
        # Nothing but systemd is there before our package is.
        return Recipe(suite, ('systemd', 'systemd-sysv'), fetched=(*LIBRARIES[suite], 'autopkgtest', 'dpkg-dev'))
    # What dpkg-buildpackage takes for granted, what the source package asks for, and what looks at the result.
    control = (TREE / 'packaging/deb/control').read_text(encoding='utf-8')
    found = re.search(r'^Build-Depends:\n(?: .*\n)+', control, re.MULTILINE)
    return Recipe(
        suite,
        ('build-essential', 'fakeroot', 'xz-utils', 'locales'),
        build_depends=found[0],
        tools=('debian-policy', 'faketime', 'lintian', 'squashfs-tools'),
        locale='tr_TR',
    )


class RootError(Exception):
    """A root could not be made; the text says why."""


class NoMirror(RootError):
    """This machine is not configured with a mirror of Debian's suites."""


def run(command, log=None, status=(0,), **kwargs):
    """Runs a step that must end with a status; returns what it printed, and leaves it in the file log."""
    done = subprocess.run(
        [str(c) for c in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors='replace',
        check=False,
        **kwargs,
    )
    if log:
        log.write_text(done.stdout, encoding='utf-8')
    if done.returncode not in status:
        raise RootError(f'{command} exited with {done.returncode}:\n{done.stdout[-4000:]}')
    return done.stdout


def mirror():
    """The place of the machine's own main packages."""
    lines = run(
        ['apt-get', 'indextargets', '--format', '$(SITE) $(ORIGIN)', 'Identifier: Packages', 'Component: main']
    )
    for line in lines.splitlines():
        site, _, origin = line.partition(' ')
        if origin == 'Debian' and not site.rstrip('/').endswith('security'):
            return site
    raise NoMirror("the machine's apt has no Debian mirror")


def root(suite, flavour='minimal'):
    """The directory of a root, made if it isn't there.  Nobody may write to it."""
    wanted = recipe(suite, flavour)
    place = CACHE / f'{suite}-{flavour}-{wanted.key()}'
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(CACHE / f'{suite}-{flavour}.lock', 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not place.exists():
            make_place(wanted, place)
        os.utime(place)
        for other in CACHE.glob(f'{suite}-{flavour}-*'):
            if time.time() - other.stat().st_mtime > A_WEEK:
                shutil.rmtree(other)
    return place


def make_place(wanted, place):
    """In memory first: on a disk, dpkg waits for it after every file."""
    unfinished, scratch = place.with_suffix('.new'), place.with_suffix('.scratch')
    bed.keep_mounts_private()
    scratch.mkdir(exist_ok=True)
    run(['mount', '-t', 'tmpfs', '-o', 'mode=755,size=6G', 'tmpfs', scratch])
    try:
        make_root(wanted, scratch)
        shutil.rmtree(unfinished, ignore_errors=True)
        run(['cp', '-a', '--one-file-system', f'{scratch}/.', unfinished])
    finally:
        run(['umount', '--recursive', '--lazy', scratch])
        scratch.rmdir()
    unfinished.rename(place)


def make_root(wanted, place):
    run(
        [
            'debootstrap',
            '--variant=minbase',
            f'--include={",".join(wanted.packages)}',
            wanted.suite,
            place,
            mirror(),
        ]
    )
    # What the machine tells apt about fetching (a proxy, dates) holds for its containers, too.
    settings = [line for line in run(['apt-config', 'dump']).splitlines() if line.startswith('Acquire::')]
    kept = [line for line in settings if 'IndexTargets' not in line and 'CompressionTypes' not in line]
    (place / 'etc/apt/apt.conf.d/00machine').write_text('\n'.join([*kept, '']), encoding='utf-8')
    (place / 'srv').mkdir(exist_ok=True)
    with network(place):
        apt(place, 'update')
        if wanted.build_depends:
            source = place / 'srv/dependencies/debian'
            source.mkdir(parents=True)
            text = f'Source: dependencies\nMaintainer: tests <tests@localhost>\n{wanted.build_depends}'
            (source / 'control').write_text(text, encoding='utf-8')
            apt(place, 'build-dep', '/srv/dependencies')
            shutil.rmtree(source.parent)
        if wanted.tools:
            apt(place, 'install', *wanted.tools)
        if wanted.fetched:
            apt(place, 'install', '--download-only', *wanted.fetched)
    if wanted.locale:
        inside(place, 'localedef', '-i', wanted.locale, '-f', 'UTF-8', f'{wanted.locale}.UTF-8')


def apt(place, *arguments):
    return inside(place, 'apt-get', '-q', '-y', '--no-install-recommends', *arguments)


@contextlib.contextmanager
def network(place):
    """The machine's resolver while something is fetched in a root."""
    target = place / 'etc/resolv.conf'
    before = target.read_bytes() if target.exists() else None
    for name in ('etc/resolv.conf', 'etc/hosts'):
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(f'/{name}', place / name)
    yield
    target.unlink(missing_ok=True)
    if before is not None:
        target.write_bytes(before)


def inside(place, *command, log=None, **env):
    """Runs a command in a root, in a clean environment."""
    proxies = {k: v for k, v in os.environ.items() if k.lower().endswith('_proxy')}
    return run(
        ['chroot', place, *command],
        log,
        env={
            'PATH': '/usr/sbin:/usr/bin:/sbin:/bin',
            'HOME': '/root',
            'LANG': 'C.UTF-8',
            'DEBIAN_FRONTEND': 'noninteractive',
            **proxies,
            **env,
        },
    )


class Workshop(bed.Container):
    """An overlay over a root, in which packages are built; nothing is booted.  It is gone when it is left."""

    BOUND = ('proc', 'sys', 'dev')

    def start(self):
        bed.sweep_dead()
        self._mount_root()
        for name in self.BOUND:
            run(['mount', '--rbind', f'/{name}', self.root / name])

    def destroy(self):
        for name in self.BOUND:
            if os.path.ismount(self.root / name):
                run(['umount', '--recursive', '--lazy', self.root / name])
        super().destroy()

    def call(self, *command, **kwargs):
        return inside(self.root, *command, **kwargs)
