# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the cases act on: a manager, servers defined in it, and what these leave behind."""

import contextlib
import ctypes
import grp
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import time

import client

KINDS = ('system', 'user')
MEMBER = 'member'
STRANGER = 'stranger'

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / 'fixtures'
MARK = 'MCP_TEST_MARK'
CGROUP_TOPS = ('/sys/fs/cgroup',)

_counter = 0


def prepare():
    """Once per boot: the user manager that the cases of kind user talk to."""
    uid = pwd.getpwnam(MEMBER).pw_uid
    subprocess.run(['systemctl', 'start', f'user@{uid}.service'], check=True, timeout=60 * client.PATIENCE)


def landlock_abi():
    """The kernel's own answer; 0 where it has no Landlock."""
    create_ruleset, version = 444, 1
    return max(0, ctypes.CDLL(None).syscall(create_ruleset, None, 0, version))


def ids_of(user):
    entry = pwd.getpwnam(user)
    groups = [g.gr_gid for g in grp.getgrall() if user in g.gr_mem]
    return entry.pw_uid, entry.pw_gid, [entry.pw_gid, *groups]


def user_environment(user):
    entry = pwd.getpwnam(user)
    env = {
        'PATH': os.environ['PATH'],
        'LANG': 'C.UTF-8',
        'HOME': entry.pw_dir,
        'USER': user,
        'LOGNAME': user,
    }
    runtime = f'/run/user/{entry.pw_uid}'
    if os.path.isdir(runtime):
        env |= {'XDG_RUNTIME_DIR': runtime, 'DBUS_SESSION_BUS_ADDRESS': f'unix:path={runtime}/bus'}
    return env


@contextlib.contextmanager
def acting_as(user):
    """Effective ids of a user, for what the kernel or a peer looks at (SO_PEERCRED, file owners)."""
    if user == 'root':
        yield
        return
    uid, gid, groups = ids_of(user)
    before = os.getgroups()
    os.setgroups(groups)
    os.setegid(gid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(before)


class World:
    """One manager, seen by one case.  close() takes away everything the case made."""

    def __init__(self, kind):
        self.kind = kind
        self.flag = f'--{kind}'
        self.owner = 'root' if kind == 'system' else MEMBER
        self.home = pathlib.Path(pwd.getpwnam(self.owner).pw_dir)
        self.definitions = (
            pathlib.Path('/etc/mcp/servers.d') if kind == 'system' else self.home / '.config/mcp/servers.d'
        )
        runtime = (
            pathlib.Path('/run') if kind == 'system' else pathlib.Path(f'/run/user/{ids_of(MEMBER)[0]}')
        )
        self.sockets = runtime / 'mcp'
        self.units = runtime / 'systemd'
        self.servers = []
        self.clients = []
        self.scratch = []

    # -- processes -----------------------------------------------------------

    def popen(self, argv, user=None, env=None, **kwargs):
        """As the manager's owner unless another user is named."""
        user = user or self.owner
        if user != 'root':
            uid, gid, groups = ids_of(user)
            kwargs.update(user=uid, group=gid, extra_groups=groups)
        kwargs.setdefault('stdin', subprocess.DEVNULL)
        return subprocess.Popen(
            [str(a) for a in argv], env={**user_environment(user), **(env or {})}, cwd='/', **kwargs
        )

    def run(self, argv, user=None, env=None, timeout=20, check=False, stdin=None, **kwargs):
        """Returns a CompletedProcess with text output."""
        with self.popen(
            argv,
            user,
            env,
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors='replace',
            **kwargs,
        ) as process:
            try:
                out, err = process.communicate(stdin, timeout=timeout * client.PATIENCE)
            except BaseException:
                process.kill()
                raise
        if check and process.returncode != 0:
            raise AssertionError(f'{argv} exited with {process.returncode}: {out}{err}')
        return subprocess.CompletedProcess(argv, process.returncode, out, err)

    def systemctl(self, *args, check=True, timeout=30):
        return self.run(['systemctl', self.flag, *args], check=check, timeout=timeout)

    def reload(self):
        self.systemctl('daemon-reload')

    def property(self, unit, name):
        return self.systemctl('show', '-P', name, unit).stdout.strip()

    def journal(self, *matches, cursor=None):
        """The entries that match, as dictionaries."""
        subprocess.run(['journalctl', '--sync'], check=False, capture_output=True)
        argv = [
            'journalctl',
            '-b',
            '-q',
            '-o',
            'json',
            '--all',
            *([f'--after-cursor={cursor}'] if cursor else []),
            *matches,
        ]
        return [json.loads(line) for line in self.run(argv, user='root').stdout.splitlines()]

    # -- definitions -----------------------------------------------------------

    def define(self, definition, name=None, start=True):
        """Writes a definition under a name of its own, reloads, and starts its socket."""
        global _counter
        _counter += 1
        server = Server(self, name or f'case-{os.getpid()}-{_counter}', definition)
        self.servers.append(server)
        server.write(definition)
        if start:
            self.reload()
            self.systemctl('start', server.socket_unit)
        return server

    def fixture(self, mode, *args, name=None, start=True, **keys):
        """A definition that runs tests/fixtures/server.py in one of its modes."""
        command = {'command': '/usr/bin/python3', 'args': ['-ISB', str(FIXTURES / 'server.py'), mode, *args]}
        return self.define({**command, **keys}, name, start)

    def write(self, path, text, mode=0o644, owner=None):
        """Writes a file as the manager's owner, or another."""
        path = pathlib.Path(path)
        uid, gid, _ = ids_of(owner or self.owner)
        missing = [p for p in (path.parent, *path.parent.parents) if not p.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        for directory in missing:
            os.chown(directory, uid, gid)
        path.unlink(missing_ok=True)
        path.write_text(text, encoding='utf-8')
        path.chmod(mode)
        os.chown(path, uid, gid)
        return path

    def directory(self, name, mode=0o777):
        """A directory that everyone may write by Unix rules, so that only the sandbox can say no.

        Not in /var/tmp: system services with a dynamic user have one of their own.
        """
        path = pathlib.Path('/srv/mcp-cases') / f'{name}-{self.kind}'
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        path.chmod(mode)
        self.scratch.append(path)
        return path

    def close(self):
        for item in self.clients:
            item.kill()
        for server in self.servers:
            server.remove()
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
            self.reload()
        for path in self.scratch:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


class Server:
    """A defined server: its unit names, its clients, and what is left of it."""

    def __init__(self, world, name, definition):
        self.world = world
        self.name = name
        self.mark = f'{name}-{world.kind}-{time.monotonic_ns()}'
        self.unit = f'mcp-server@{name}.service'
        self.socket_unit = f'mcp-server@{name}.socket'
        self.stream = world.sockets / f'{name}.sock'
        self.control = world.sockets / f'{name}.connect'
        self.file = world.definitions / f'{name}.json'
        self.definition = definition

    def write(self, definition):
        """The mark in the environment finds the server's processes wherever they went."""
        self.definition = {**definition, 'env': {**definition.get('env', {}), MARK: self.mark}}
        self.world.write(self.file, json.dumps(self.definition, indent=2) + '\n')

    def remove(self):
        """Ends it by every means, so that one case's failure doesn't become the next one's."""
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        for args in (
            ('stop', self.socket_unit, self.unit),
            ('kill', '--signal=KILL', f'mcp-{self.name}-*.scope'),
            ('reset-failed', self.socket_unit, self.unit),
        ):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.world.systemctl(*args, check=False)
        self.file.unlink(missing_ok=True)
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    # -- clients ---------------------------------------------------------------

    def connect(self, *options, user=None, env=None):
        """A client over mcp-connect: the way a client's config names it."""
        user = user or MEMBER
        with acting_as(user):  # whose pipes they are decides who may open them again
            (stdin, ours_in), (ours_out, stdout), (ours_err, stderr) = os.pipe(), os.pipe(), os.pipe()
        process = self.world.popen(
            ['mcp-connect', self.world.flag, *options, self.name],
            user=user,
            env=env,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )
        for fd in (stdin, stdout, stderr):
            os.close(fd)
        return self._keep(client.ProcessClient(process, ours_in, ours_out, ours_err))

    def dial(self, user=None):
        """A client on the raw stream socket."""
        with acting_as(user or MEMBER):
            return self._keep(client.SocketClient(self.stream))

    def control_socket(self, user=None):
        """A bare connection to NAME.connect, for clients that don't keep to the contract."""
        with acting_as(user or MEMBER):
            return client.control_socket(self.control)

    def open(self, way):
        return {'connect': self.connect, 'socket': self.dial}[way]()

    def _keep(self, item):
        self.world.clients.append(item)
        return item

    # -- what there is of it -----------------------------------------------------

    @property
    def supervisor(self):
        """The supervisor's pid, 0 where it doesn't run."""
        return int(self.world.property(self.unit, 'MainPID') or 0)

    def supervisor_fds(self):
        return len(os.listdir(f'/proc/{self.supervisor}/fd'))

    def scopes(self):
        listed = self.world.systemctl(
            'list-units', '--all', '--plain', '--no-legend', '--full', f'mcp-{self.name}-*.scope'
        ).stdout
        return [line.split()[0] for line in listed.splitlines() if line.strip()]

    def cgroups(self):
        pattern = re.compile(rf'mcp-{re.escape(self.name)}-[0-9a-f]+\.scope')
        mine = f'user@{ids_of(MEMBER)[0]}.service'
        found = []
        for top in CGROUP_TOPS:
            for directory, names, _ in os.walk(top):
                if (mine in directory) == (self.world.kind == 'user'):
                    found += [os.path.join(directory, n) for n in names if pattern.fullmatch(n)]
        return found

    def processes(self):
        """Every process with the mark in its environment, zombies excepted (these have none)."""
        needle = f'{MARK}={self.mark}'.encode()
        found = []
        for entry in os.scandir('/proc'):
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    if needle in pathlib.Path(entry.path, 'environ').read_bytes().split(b'\0'):
                        found.append(int(entry.name))
        return found

    def remains(self):
        """What is left of its sessions, in words; empty if nothing."""
        parts = {
            'process': [f'{p} ({describe(p)})' for p in self.processes()],
            'scope': self.scopes(),
            'cgroup': self.cgroups(),
        }
        return [f'{what} {item}' for what, items in parts.items() for item in items]


def describe(pid):
    with contextlib.suppress(OSError):
        return (
            pathlib.Path(f'/proc/{pid}/cmdline')
            .read_bytes()
            .replace(b'\0', b' ')
            .decode(errors='replace')
            .strip()
        )
    return 'gone'
