# SPDX-License-Identifier: LGPL-2.1-or-later
"""Minimal Debian roots, kept in build-packaging/roots of the tree.

They come from the mirror that the machine itself is configured with; no other is ever asked.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess

TREE = pathlib.Path(__file__).resolve().parents[2]
CACHE = TREE / 'build-packaging'
SUITES = ('bookworm', 'trixie')

# Nothing but systemd is there before our package is; a build root has what dpkg-buildpackage takes for granted.
FLAVOURS = {'minimal': ('systemd', 'systemd-sysv'), 'build': ('build-essential', 'fakeroot', 'xz-utils')}


class RootError(Exception):
    """A root could not be made; the text says why."""


class NoMirror(RootError):
    """This machine is not configured with a mirror of Debian's suites."""


def run(command, **kwargs):
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
    if done.returncode != 0:
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
    """The directory of a root, made if it isn't there."""
    place = CACHE / 'roots' / f'{suite}-{flavour}'
    if place.exists():
        return place
    unfinished = place.with_suffix('.new')
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    run(
        [
            'debootstrap',
            '--variant=minbase',
            f'--include={",".join(FLAVOURS[flavour])}',
            suite,
            unfinished,
            mirror(),
        ]
    )
    # What the machine tells apt about fetching (a proxy, dates) holds for its containers, too.
    settings = [line for line in run(['apt-config', 'dump']).splitlines() if line.startswith('Acquire::')]
    kept = [line for line in settings if 'IndexTargets' not in line and 'CompressionTypes' not in line]
    (unfinished / 'etc/apt/apt.conf.d/00machine').write_text('\n'.join([*kept, '']), encoding='utf-8')
    unfinished.rename(place)
    return place


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


def inside(place, *command, **env):
    return run(
        ['chroot', place, *command],
        env={
            'PATH': '/usr/sbin:/usr/bin:/sbin:/bin',
            'HOME': '/root',
            'LANG': 'C.UTF-8',
            'DEBIAN_FRONTEND': 'noninteractive',
            **{k: v for k, v in os.environ.items() if k.lower().endswith('_proxy')},
            **env,
        },
    )


def fetch(place, *packages):
    """Has apt fetch packages and what they need, for an installation without a network."""
    with network(place):
        inside(place, 'apt-get', '-q', 'update')
        inside(place, 'apt-get', '-q', '-y', '--no-install-recommends', '--download-only', 'install', *packages)


def install(place, *packages):
    with network(place):
        inside(place, 'apt-get', '-q', 'update')
        inside(place, 'apt-get', '-q', '-y', '--no-install-recommends', 'install', *packages)
