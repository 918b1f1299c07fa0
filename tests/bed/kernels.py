# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kernels and roots for the virtual machine: Debian packages, unpacked into a cache and never installed.

apt does the fetching, from the machine's own mirror, with a state directory of its own: the machine's sources and lists
stay as they are.  Several runs may share a cache: who fills it holds its lock, and what is in it is either whole, by the
checksum beside it, or made again.
"""

import dataclasses
import fcntl
import hashlib
import pathlib
import re
import shutil
import subprocess
import tempfile

from container import BedError

KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

# What a server and the tests need inside; the product's own libraries by the suite's names.
PACKAGES = (
    'systemd', 'systemd-sysv', 'dbus', 'libpam-systemd', 'dbus-user-session', 'libseccomp2', 'libjson-c5',
    'libsmartcols1', 'python3', 'procps', 'strace',
)  # fmt: skip
SUITE_PACKAGES = {'bookworm': ('libtomlplusplus3',), 'trixie': ('libtomlplusplus3t64',)}

# Terminals that nobody has would be waited for.
MASKED_UNITS = ('serial-getty@ttyS0.service', 'systemd-update-utmp-runlevel.service', 'getty@tty1.service')


class NotReachable(BedError):
    """The mirror does not have it, or there is none: nothing that the product could be blamed for."""


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One row of the table of kernels."""

    suite: str
    versions: tuple  # patterns, the one that is wanted most first; of those that fit one the newest is taken
    abi: int  # what its Landlock has to answer; at least, where several patterns will do
    command_line: str = ''


# Debian's unstable suite has one kernel at a time: once it has gone on, a later one has to do.
KERNELS = {
    '6.1': Kernel('bookworm', (r'6\.1\.[-0-9.]+',), 2),
    '6.12': Kernel('trixie', (r'6\.12\.[-+~a-z0-9.]+',), 6),
    '7.2': Kernel('sid', (r'7\.2[-+~a-z0-9.]*', r'7\.([3-9]|\d\d)[-+~a-z0-9.]*'), 10),
    'none': Kernel('bookworm', (r'6\.1\.[-0-9.]+',), 0, 'lsm=lockdown,yama audit=0'),
}
# Which of a version's packages has the image in it changed between Debian's suites.
IMAGE_PACKAGES = ('linux-binary-{}-cloud-amd64', 'linux-image-{}-cloud-amd64')


def run(command, what, **kwargs):
    """Runs a tool; its output only matters where it fails."""
    done = subprocess.run(
        [str(c) for c in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors='replace', check=False, **kwargs,
    )  # fmt: skip
    if done.returncode != 0:
        raise BedError(f'{what} failed ({done.returncode}):\n{done.stdout[-3000:]}')
    return done.stdout


def mirror():
    """The machine's own mirror of Debian."""
    listed = run(
        ['apt-get', 'indextargets', '--format', '$(REPO_URI)', 'Origin: Debian', 'Label: Debian'], 'asking apt'
    ).split()
    if not listed:
        raise NotReachable('apt knows no mirror of Debian here; add one to its sources')
    return listed[0].rstrip('/')


def checksum(path):
    with open(path, 'rb') as f:
        return hashlib.file_digest(f, 'sha256').hexdigest()


def cached(path, make):
    """A file of the cache.  make(directory) makes it where it is missing or spoilt, in a directory that goes away, and
    returns where it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    known = path.with_name(path.name + '.sha256')
    with open(path.parent / 'lock', 'w', encoding='ascii') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists() and known.exists() and known.read_text(encoding='ascii').strip() == checksum(path):
            return path
        with tempfile.TemporaryDirectory(dir=path.parent, prefix='making-') as directory:
            made = make(pathlib.Path(directory))
            # First the sum: a file without one that fits is made again.
            known.write_text(checksum(made) + '\n', encoding='ascii')
            made.rename(path)
    return path


class Apt:
    """apt for one suite, apart from the machine's."""

    def __init__(self, top, suite):
        for name in ('state/lists/partial', 'cache/archives/partial'):
            (top / name).mkdir(parents=True, exist_ok=True)
        (top / 'status').touch()
        (top / 'sources.list').write_text(f'deb [signed-by={KEYRING}] {mirror()} {suite} main\n')
        settings = {
            'Dir::State': top / 'state',
            'Dir::State::status': top / 'status',
            'Dir::Cache': top / 'cache',
            'Dir::Etc::sourcelist': top / 'sources.list',
            'Dir::Etc::sourceparts': '/dev/null',
            'APT::Sandbox::User': 'root',
            'APT::Update::Error-Mode': 'any',
            'Acquire::Languages': 'none',
            'Acquire::Retries': '3',
        }
        self.options = [f'-o{key}={value}' for key, value in settings.items()]

    def fetch(self, command, what, **kwargs):
        """A step that needs the mirror."""
        try:
            return run(['apt-get', *self.options, '-q', *command], what, **kwargs)
        except BedError as e:
            raise NotReachable(' '.join(str(e).split())[-400:]) from e

    def image_packages(self, patterns):
        """Those of the newest version that fits the first pattern that any does."""
        names = run(['apt-cache', *self.options, 'pkgnames', 'linux-'], 'listing kernels').split()
        for pattern in patterns:
            fitting = {}
            for name in names:
                for package in IMAGE_PACKAGES:
                    head, tail = package.split('{}')
                    if match := re.fullmatch(f'{re.escape(head)}({pattern}){re.escape(tail)}', name):
                        fitting.setdefault(match[1], []).append(name)
            if fitting:
                newest = max(fitting, key=lambda version: [int(x) for x in re.findall(r'\d+', version)])
                return sorted(fitting[newest])
        raise NotReachable(f'the mirror has no kernel like {" or ".join(patterns)} in this suite')

    def unpack_image(self, patterns, directory):
        """The vmlinuz of the newest kernel that fits."""
        self.fetch(['update'], 'updating the package lists')
        for package in self.image_packages(patterns):
            self.fetch(['download', package], f'fetching {package}', cwd=directory)
            for deb in directory.glob('*.deb'):
                run(['dpkg', '-x', deb, directory], f'unpacking {deb.name}')
                deb.unlink()
            if images := [*directory.glob('boot/vmlinuz-*'), *directory.glob('usr/lib/modules/*/vmlinuz')]:
                return images[0]
        raise BedError(f'{package} and its like have no image in them')


def kernel_image(name, cache):
    """The vmlinuz of a kernel of the table.  Nothing is a module that the tests need."""
    kernel = KERNELS[name]

    def make(directory):
        unpacked = directory / 'unpacked'
        unpacked.mkdir()
        return Apt(directory / 'apt', kernel.suite).unpack_image(kernel.versions, unpacked)

    return cached(cache / f'vmlinuz-{kernel.suite}', make)


def pack(root, archive):
    """An initramfs of a directory; several can follow each other in one file."""
    partial = archive.with_name(archive.name + '.partial')
    with open(partial, 'wb') as f:
        find = subprocess.Popen(['find', '.', '-print0'], cwd=root, stdout=subprocess.PIPE)
        cpio = subprocess.Popen(
            ['cpio', '--null', '--create', '--format=newc', '--quiet'],
            cwd=root,
            stdin=find.stdout,
            stdout=subprocess.PIPE,
        )
        zstd = subprocess.Popen(['zstd', '-1', '-q', '-c'], stdin=cpio.stdout, stdout=f)
        find.stdout.close()
        cpio.stdout.close()
        statuses = [p.wait() for p in (zstd, cpio, find)]
    if any(statuses):
        raise BedError(f'packing {root} failed: {statuses}')
    partial.rename(archive)


def base_archive(suite, cache):
    """A minimal system of a Debian suite as an initramfs."""

    packages = PACKAGES + SUITE_PACKAGES[suite]

    def make(directory):
        root = directory / 'root'
        try:
            run(
                ['debootstrap', '--variant=minbase', f'--include={",".join(packages)}', suite, root, mirror()],
                f'making a root of {suite}',
            )
        except BedError as e:
            raise NotReachable(' '.join(str(e).split())[-400:]) from e
        for name in ('var/cache/apt', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/locale', 'usr/share/man'):
            shutil.rmtree(root / name, ignore_errors=True)
        for unit in MASKED_UNITS:
            (root / 'etc/systemd/system' / unit).symlink_to('/dev/null')
        (root / 'etc/hostname').write_text('mcp-bed\n')
        (root / 'etc/hosts').write_text('127.0.0.1 localhost\n::1 localhost\n')
        archive = directory / 'archive'
        pack(root, archive)
        return archive

    # Another list of packages is another root.
    recipe = hashlib.sha256(' '.join(packages + MASKED_UNITS).encode()).hexdigest()[:8]
    return cached(cache / f'root-{suite}-{recipe}.cpio.zst', make)
