# SPDX-License-Identifier: LGPL-2.1-or-later
"""A throw-away container with a real systemd as PID 1.

The root is an overlay over the machine's own root (or one that was made for the
purpose), so node, python and the libraries are there and nothing on the machine
changes.  Everything is mounted
in a mount namespace of this process: when it and the container are gone, so
are the mounts, whatever ended them.
"""

import contextlib
import ctypes
import os
import pathlib
import secrets
import shutil
import signal
import subprocess
import sys
import time

CLONE_NEWNS = 0x00020000
MS_REC = 0x4000
MS_PRIVATE = 1 << 18
MNT_DETACH = 2
PR_SET_PDEATHSIG = 1

BOOT_TIMEOUT = 60
POWEROFF_TIMEOUT = 20

# The member may connect to system servers (group mcp), the stranger may not.
MEMBER = 'member'
STRANGER = 'stranger'
USERS = {MEMBER: 6101, STRANGER: 6102}

# Where the source tree is seen inside, wherever it is outside and whoever may look there.
TREE_INSIDE = '/srv/mcp-systemd'

CLEAN_ENVIRONMENT = {
    'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'LANG': 'C.UTF-8',
    'SYSTEMD_PAGER': 'cat',
    'SYSTEMD_COLORS': '0',
}

# Booted units that a container has no use for and that wait for hardware or for a network.
MASKED_UNITS = (
    'console-getty.service',
    'container-getty@.service',
    'getty.target',
    'e2scrub_reap.service',
    'networking.service',
    'systemd-networkd.service',
    'systemd-resolved.service',
    'systemd-timesyncd.service',
    'systemd-update-utmp.service',
    'systemd-update-utmp-runlevel.service',
    'systemd-firstboot.service',
    'systemd-hwdb-update.service',
    'ldconfig.service',
    'timers.target',
)

_libc = ctypes.CDLL(None, use_errno=True)


class BedError(Exception):
    """The bed itself could not do its job; never a test's failure."""


def _call(function, *args):
    if function(*args) < 0:
        errno = ctypes.get_errno()
        raise BedError(f'{function.__name__}: {os.strerror(errno)}')


def _mount(source, target, fstype, flags=0, data=None):
    _call(
        _libc.mount,
        source.encode(),
        str(target).encode(),
        fstype and fstype.encode(),
        ctypes.c_ulong(flags),
        data and data.encode(),
    )


def _die_orderly_with_parent():
    """SIGTERM makes nspawn power its container off; SIGKILL would leave PID 1 behind."""
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def keep_mounts_private():
    """What this process mounts from now on nobody else sees, and it goes with this process."""
    _call(_libc.unshare, CLONE_NEWNS)
    _mount('none', '/', None, MS_REC | MS_PRIVATE)


def host_runs_systemd():
    return os.path.isdir('/run/systemd/system')


def find_cgroup2():
    """Where cgroup2 is mounted: /sys/fs/cgroup, or below it in the hybrid layout."""
    with open('/proc/self/mountinfo', encoding='utf-8') as f:
        for line in f:
            left, _, right = line.partition(' - ')
            if right.split()[0] == 'cgroup2':
                return pathlib.Path(left.split()[4])
    raise BedError('no cgroup2 hierarchy is mounted')


def cgroups_of(pid):
    """The directories of a process in cgroup2 and, in the hybrid layout, in systemd's own hierarchy."""
    mounts = {'0::': find_cgroup2(), 'name=systemd:': pathlib.Path('/sys/fs/cgroup/systemd')}
    found = []
    with open(f'/proc/{pid}/cgroup', encoding='utf-8') as f:
        for line in f:
            for key, mount in mounts.items():
                _, mark, path = line.rstrip('\n').partition(key)
                if mark and (mount / 'cgroup.procs').exists():
                    found.append(mount / path.lstrip('/'))
    return found


class Container:
    """One boot.  Use as a context manager: leaving it powers off and cleans up.

    binds are pairs of a directory outside and where it is seen inside, read-only.
    """

    def __init__(self, build=None, binds=(), verbose=False, lower='/'):
        self.lower = lower
        self.build = build and pathlib.Path(build).resolve()
        self.binds = binds
        self.verbose = verbose
        self.name = f'mcp-bed-{os.getpid()}'
        self.top = pathlib.Path('/run') / self.name
        self.root = self.top / 'fs/root'
        self.nspawn = None
        self.console = None
        self.leader = None
        self.leader_fd = -1
        self.outside = []  # cgroups made for nspawn, and removed by us
        self.inside = []  # cgroups for our commands, below the container's own

    # -- life --------------------------------------------------------------

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.destroy()
            raise
        return self

    def __exit__(self, *exc):
        self.destroy()

    def start(self):
        if os.geteuid() != 0:
            raise BedError('the container needs root (mounts, namespaces)')
        if not shutil.which('systemd-nspawn'):
            raise BedError('systemd-nspawn is missing: run packaging/install-deps test')
        began = time.monotonic()
        sweep_dead()
        self._mount_root()
        self._prepare_root()
        if self.build:
            self._install()
        prepared = time.monotonic()
        self._boot()
        self.note(
            f'root prepared in {prepared - began:.1f} s, booted in {time.monotonic() - prepared:.1f} s, '
            f'PID 1 is {self.leader} here'
        )

    def destroy(self):
        """Ends whatever is left, in the order that needs the least from the container."""
        if self.leader and self._alive():
            self._power_off()
        if self.nspawn:
            self._reap_nspawn()
        for cgroup in self.outside:
            remove_directories(cgroup)
        if self.leader_fd >= 0:
            os.close(self.leader_fd)
            self.leader_fd = -1
        for mounted in (self.root, self.root.parent):
            _libc.umount2(str(mounted).encode(), MNT_DETACH)
        shutil.rmtree(self.top, ignore_errors=True)

    def note(self, text):
        if self.verbose:
            print(f'bed: {text}', file=sys.stderr, flush=True)

    # -- the root ----------------------------------------------------------

    def _mount_root(self):
        keep_mounts_private()
        (self.top / 'fs').mkdir(parents=True)
        _mount('tmpfs', self.top / 'fs', 'tmpfs', data='mode=755,size=4G')
        upper, work = self.top / 'fs/upper', self.top / 'fs/work'
        for path in (upper, work, self.root):
            path.mkdir(mode=0o755)
        _mount('overlay', self.root, 'overlay', data=f'lowerdir={self.lower},upperdir={upper},workdir={work}')

    def _prepare_root(self):
        """Takes out what the machine itself would start, and what names the machine."""
        etc = self.root / 'etc'
        for path in (
            'systemd/system',
            'systemd/user',
            'systemd/system.conf.d',
            'systemd/user.conf.d',
            'systemd/system-generators',
            'systemd/user-generators',
            'systemd/journald.conf.d',
            'mcp',
            *(f'rc{level}.d' for level in '0123456S'),
        ):
            shutil.rmtree(etc / path, ignore_errors=True)
        for path in ('var/log/journal', 'var/lib/systemd/linger'):
            shutil.rmtree(self.root / path, ignore_errors=True)
        for kind in ('system', 'user'):
            (etc / 'systemd' / kind).mkdir()
        self._write('etc/machine-id', secrets.token_hex(16) + '\n')
        self._write('etc/fstab', '')
        self._write('etc/resolv.conf', '')
        self._write('etc/environment', '')
        self._write('etc/hostname', self.name + '\n')
        self._write('etc/hosts', f'127.0.0.1 localhost {self.name}\n::1 localhost\n')
        self._write(
            'etc/systemd/journald.conf.d/bed.conf', '[Journal]\nStorage=volatile\nSyncIntervalSec=1s\n'
        )
        for unit in MASKED_UNITS:
            self._mask('etc/systemd/system', unit)
        for generator in (self.root / 'usr/lib/systemd/system-generators').glob('*'):
            self._mask('etc/systemd/system-generators', generator.name)
        for name, uid in USERS.items():
            self._add_user(name, uid)

    def _write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        # A link would lead out of the overlay into the machine's own /run.
        with contextlib.suppress(FileNotFoundError):
            target.unlink()
        target.write_text(text, encoding='utf-8')

    def _mask(self, directory, name):
        target = self.root / directory
        target.mkdir(parents=True, exist_ok=True)
        if not (target / name).is_symlink():
            (target / name).symlink_to('/dev/null')

    def _add_user(self, name, uid):
        """Takes the place of a user of the machine that has the name or the number by chance."""
        for path, line in (
            ('etc/passwd', f'{name}:x:{uid}:{uid}::/home/{name}:/bin/bash'),
            ('etc/group', f'{name}:x:{uid}:'),
            ('etc/shadow', f'{name}:*:19000::::::'),
        ):
            file = self.root / path
            kept = [
                old
                for old in file.read_text(encoding='utf-8').splitlines()
                if old.split(':')[0] != name and old.split(':')[2] != str(uid)
            ]
            file.write_text('\n'.join([*kept, line, '']), encoding='utf-8')
        home = self.root / 'home' / name
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True, mode=0o750)
        os.chown(home, uid, uid)

    def _install(self):
        """Installs as a package would, then what a package's trigger would do."""
        self._host(
            ['meson', 'install', '--no-rebuild', '--quiet', '-C', str(self.build)],
            env={**os.environ, 'DESTDIR': str(self.root)},
        )
        self._host(['systemd-sysusers', f'--root={self.root}'])
        if 'mcp:' in (self.root / 'etc/group').read_text(encoding='utf-8'):
            self._host(['chroot', str(self.root), 'gpasswd', '--add', MEMBER, 'mcp'])
        self._host(['journalctl', f'--root={self.root}', '--update-catalog'])

    def _host(self, command, **kwargs):
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            **kwargs,
        )
        if done.returncode != 0:
            raise BedError(f'{" ".join(command)} exited with {done.returncode}:\n{done.stdout}')

    # -- boot and power-off --------------------------------------------------

    def _boot(self):
        command = [
            'systemd-nspawn',
            '--quiet',
            f'--directory={self.root}',
            f'--machine={self.name}',
            '--register=no',
            '--console=passive',
            '--private-network',
            '--link-journal=no',
            '--resolv-conf=off',
            '--timezone=off',
            # Debian 12's nspawn doesn't have Landlock's calls on its list.
            '--system-call-filter=landlock_create_ruleset landlock_add_rule landlock_restrict_self',
        ]
        command += [f'--bind-ro={outside}:{inside}' for outside, inside in self.binds]
        if not host_runs_systemd():
            command.append('--keep-unit')
            self.outside = [cgroup / self.name for cgroup in cgroups_of(os.getpid())]
        command += ['--boot', 'systemd.unit=multi-user.target', 'systemd.show_status=0']
        self.console = open(self.top / 'console', 'wb')
        self.nspawn = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self.console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=self._before_nspawn,
        )
        self._find_leader()
        self._wait_running()

    def _before_nspawn(self):
        """Without a systemd to ask for a scope, a cgroup of its own keeps two containers apart."""
        _die_orderly_with_parent()
        for cgroup in self.outside:
            cgroup.mkdir(exist_ok=True)
            (cgroup / 'cgroup.procs').write_text('0', encoding='ascii')

    def _find_leader(self):
        """nspawn's child that is number 1 in a PID namespace of its own."""
        deadline = time.monotonic() + BOOT_TIMEOUT
        while time.monotonic() < deadline:
            if self.nspawn.poll() is not None:
                raise BedError(
                    f'systemd-nspawn exited with {self.nspawn.returncode}:\n{self.console_text()}'
                )
            for pid in children_of(self.nspawn.pid):
                if namespace_pids(pid)[1:] == ['1'] and comm_of(pid) == 'systemd':
                    self.leader, self.leader_fd = pid, os.pidfd_open(pid)
                    return
            time.sleep(0.02)
        raise BedError(f'no PID 1 came up in the container:\n{self.console_text()}')

    def _wait_running(self):
        deadline = time.monotonic() + BOOT_TIMEOUT
        while True:
            done = self.run(
                ['systemctl', 'is-system-running', '--wait'],
                capture_output=True,
                text=True,
                timeout=BOOT_TIMEOUT,
            )
            state = done.stdout.strip()
            if state == 'running':
                break
            if state == 'degraded' or time.monotonic() > deadline or not self._alive():
                raise BedError(
                    f'the container is "{state or done.stderr.strip()}" instead of running:\n'
                    + self._output(['systemctl', '--failed', '--no-legend'])
                    + self._output(['journalctl', '-b', '-p', 'warning', '--no-pager', '-n', '60'])
                    + self.console_text()
                )
            time.sleep(0.05)
        self._make_cgroup()

    def _make_cgroup(self):
        """Commands must not be seen from inside as processes outside the cgroup namespace."""
        for top in cgroups_of(self.leader):
            inside = (top.parent if top.name == 'init.scope' else top) / 'bed'
            inside.mkdir(exist_ok=True)
            self.inside.append(inside)

    def _power_off(self):
        with contextlib.suppress(BedError, subprocess.TimeoutExpired):
            self.run(['systemctl', 'poweroff'], capture_output=True, timeout=10)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.nspawn.wait(POWEROFF_TIMEOUT)
            return
        self.note('power-off takes too long: ending PID 1')
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.leader_fd, signal.SIGKILL)

    def _reap_nspawn(self):
        for ask in (lambda: None, self.nspawn.terminate, self.nspawn.kill):
            ask()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.nspawn.wait(5)
                break
        self.console.close()

    def _alive(self):
        return self.nspawn is not None and self.nspawn.poll() is None

    def console_text(self):
        return (self.top / 'console').read_text(encoding='utf-8', errors='replace')

    # -- commands ------------------------------------------------------------

    def command(self, argv, user=None, cwd='/', env=None):
        """The argv that runs argv inside, as root or as one of USERS, in a clean environment."""
        environment = {**CLEAN_ENVIRONMENT, **user_environment(user), **(env or {})}
        inner = ['env', '-i', f'--chdir={cwd}', *(f'{k}={v}' for k, v in environment.items()), *argv]
        if user:
            inner = ['setpriv', f'--reuid={user}', f'--regid={user}', '--init-groups', *inner]
        return ['nsenter', '-t', str(self.leader), '-a', '--', *inner]

    def popen(self, argv, user=None, cwd='/', env=None, **kwargs):
        def join():
            for cgroup in self.inside:
                (cgroup / 'cgroup.procs').write_text('0', encoding='ascii')

        return subprocess.Popen(self.command(argv, user, cwd, env), preexec_fn=join, **kwargs)

    def run(self, argv, user=None, cwd='/', env=None, timeout=None, capture_output=False, **kwargs):
        if capture_output:
            kwargs.update(stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        kwargs.setdefault('stdin', subprocess.DEVNULL)
        with self.popen(argv, user, cwd, env, **kwargs) as process:
            try:
                out, err = process.communicate(timeout=timeout)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(argv, process.returncode, out, err)

    def start_user_manager(self, user):
        done = self.run(
            ['systemctl', 'start', f'user@{USERS[user]}.service'], capture_output=True, text=True, timeout=30
        )
        if done.returncode != 0:
            raise BedError(
                f'the user manager of {user} did not start: {done.stderr.strip()}\n'
                + self._output(['journalctl', '-b', '--no-pager', '-n', '40'])
            )

    def save_journal(self, path):
        with open(path, 'wb') as f:
            self.run(['journalctl', '-b', '--no-pager', '-o', 'short-precise'], stdout=f, timeout=60)

    def _output(self, argv):
        with contextlib.suppress(subprocess.TimeoutExpired, OSError):
            return self.run(argv, capture_output=True, text=True, timeout=20).stdout
        return ''


def user_environment(user):
    if not user:
        return {'HOME': '/root', 'USER': 'root', 'LOGNAME': 'root', 'SHELL': '/bin/bash'}
    runtime = f'/run/user/{USERS[user]}'
    return {
        'HOME': f'/home/{user}',
        'USER': user,
        'LOGNAME': user,
        'SHELL': '/bin/bash',
        'XDG_RUNTIME_DIR': runtime,
        'DBUS_SESSION_BUS_ADDRESS': f'unix:path={runtime}/bus',
    }


def sweep_dead():
    """Removes the empty directories of beds that were ended by SIGKILL; the name holds the pid."""
    for parent in ('/run', find_cgroup2(), '/sys/fs/cgroup/systemd'):
        for path in pathlib.Path(parent).glob('mcp-bed-*'):
            if not os.path.exists(f'/proc/{path.name.rpartition("-")[2]}'):
                remove_directories(path)


def children_of(pid):
    found = []
    for entry in os.scandir('/proc'):
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                stat = pathlib.Path(entry.path, 'stat').read_text(encoding='utf-8', errors='replace')
                if stat.rpartition(')')[2].split()[1] == str(pid):
                    found.append(int(entry.name))
    return found


def namespace_pids(pid):
    with contextlib.suppress(OSError):
        for line in (
            pathlib.Path(f'/proc/{pid}/status').read_text(encoding='utf-8', errors='replace').splitlines()
        ):
            if line.startswith('NSpid:'):
                return line.split()[1:]
    return []


def comm_of(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f'/proc/{pid}/comm').read_text(encoding='utf-8').strip()
    return ''


def remove_directories(path):
    """Removes a tree of empty directories, such as cgroups: leaves first, and with patience."""
    for directory, _, _ in os.walk(path, topdown=False):
        for _ in range(50):
            try:
                os.rmdir(directory)
                break
            except FileNotFoundError:
                break
            except OSError:
                time.sleep(0.02)
