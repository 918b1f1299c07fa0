# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kernels and roots for the virtual machine: Debian packages, unpacked into a cache and never installed.

apt does the fetching, from the machine's own mirror, with a state directory of its own: the machine's sources and lists
stay as they are.
"""

import contextlib
import dataclasses
import pathlib
import re
import shutil
import subprocess

from container import BedError

KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg'

# What a server and the tests need inside; the product's own libraries by the names of Debian 12 and 13.
PACKAGES = (
    'systemd', 'systemd-sysv', 'dbus', 'libpam-systemd', 'dbus-user-session', 'libseccomp2', 'libjson-c5',
    'libsmartcols1', 'libtomlplusplus3', 'python3', 'procps', 'strace',
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Kernel:
    """One row of the table of kernels."""

    suite: str
    package: str  # a pattern for its name; the newest that fits is taken
    abi: int  # what its Landlock has to answer
    command_line: str = ''


KERNELS = {
    '6.1': Kernel('bookworm', r'linux-image-6\.1\.[-0-9.]+-cloud-amd64', 2),
    '6.12': Kernel('trixie', r'linux-image-6\.12\.[-+a-z0-9.]+-cloud-amd64', 6),
    '7.2': Kernel('sid', r'linux-binary-7\.2[-+~a-z0-9.]*-cloud-amd64', 10),
    'none': Kernel('bookworm', r'linux-image-6\.1\.[-0-9.]+-cloud-amd64', 0, 'lsm=lockdown,yama'),
}


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
        raise BedError('apt knows no mirror of Debian here; add one to its sources')
    return listed[0].rstrip('/')


@contextlib.contextmanager
def made_whole(path):
    """A directory that is there whole or not at all: it is filled under another name."""
    partial = path.with_name(path.name + '.partial')
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    yield partial
    partial.rename(path)


class Apt:
    """apt for one suite, apart from the machine's."""

    def __init__(self, cache, suite):
        self.top = cache / f'apt-{suite}'
        for name in ('state/lists/partial', 'cache/archives/partial'):
            (self.top / name).mkdir(parents=True, exist_ok=True)
        (self.top / 'status').touch()
        (self.top / 'sources.list').write_text(f'deb [signed-by={KEYRING}] {mirror()} {suite} main\n')
        settings = {
            'Dir::State': self.top / 'state',
            'Dir::State::status': self.top / 'status',
            'Dir::Cache': self.top / 'cache',
            'Dir::Etc::sourcelist': self.top / 'sources.list',
            'Dir::Etc::sourceparts': '/dev/null',
            'APT::Sandbox::User': 'root',
            'Acquire::Languages': 'none',
        }
        self.options = [f'-o{key}={value}' for key, value in settings.items()]

    def update(self):
        run(['apt-get', *self.options, 'update', '-q'], 'updating the package lists')

    def newest(self, pattern):
        """The newest package whose name fits, by the order of its name's numbers."""
        names = run(['apt-cache', *self.options, 'pkgnames', 'linux-'], 'listing kernels').split()
        fitting = [n for n in names if re.fullmatch(pattern, n)]
        if not fitting:
            raise BedError(f'no package fits {pattern}')
        return max(fitting, key=lambda n: [int(x) for x in re.findall(r'\d+', n)])

    def unpack(self, package, directory):
        run(['apt-get', *self.options, 'download', '-q', package], f'fetching {package}', cwd=directory)
        for deb in directory.glob('*.deb'):
            run(['dpkg', '-x', deb, directory], f'unpacking {deb.name}')
            deb.unlink()


def kernel_image(name, cache):
    """The vmlinuz of a kernel of the table."""
    kernel = KERNELS[name]
    directory = cache / f'kernel-{kernel.suite}'
    if not directory.exists():
        apt = Apt(cache, kernel.suite)
        apt.update()
        with made_whole(directory) as partial:
            apt.unpack(apt.newest(kernel.package), partial)
            for part in ('usr/share', 'lib/modules', 'usr/lib/modules'):
                # Nothing is a module that the tests need; the image may lie among them.
                for file in (partial / part).rglob('*.ko*'):
                    file.unlink()
    images = [*directory.glob('boot/vmlinuz-*'), *directory.glob('usr/lib/modules/*/vmlinuz')]
    if not images:
        raise BedError(f'{directory} has no kernel image in it')
    return images[0]


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
    archive = cache / f'root-{suite}.cpio.zst'
    if archive.exists():
        return archive
    root = cache / f'root-{suite}'
    shutil.rmtree(root, ignore_errors=True)
    run(
        ['debootstrap', '--variant=minbase', f'--include={",".join(PACKAGES)}', suite, root, mirror()],
        f'making a root of {suite}',
    )
    for name in ('var/cache/apt', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/locale', 'usr/share/man'):
        shutil.rmtree(root / name, ignore_errors=True)
    # Terminals that nobody has would be waited for.
    for unit in ('serial-getty@ttyS0.service', 'systemd-update-utmp-runlevel.service', 'getty@tty1.service'):
        (root / 'etc/systemd/system' / unit).symlink_to('/dev/null')
    pathlib.Path(root, 'etc/hostname').write_text('mcp-bed\n')
    pathlib.Path(root, 'etc/hosts').write_text('127.0.0.1 localhost\n::1 localhost\n')
    pack(root, archive)
    shutil.rmtree(root)
    return archive
