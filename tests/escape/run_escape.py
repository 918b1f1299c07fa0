#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the escape suite: every mode, on this kernel's Landlock ABI and on lower ones that it can be held to.

A world is made for each run: a directory that the sandbox grants, one that it doesn't, a home, and a victim process of the
same user.  Started by root, all of it belongs to another user.  Prints TAP, one case per mode and ABI.
"""

import argparse
import contextlib
import ctypes
import json
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile

MODES = ('none', 'sandbox', 'blocked', 'unix-any', 'manifest', 'ports', 'bind', 'unix-list')
# Where a mode differs from sandbox and manifest, which are tried on every ABI, in ways that an ABI matters for.
ABIS = {'none': (0,), 'blocked': (99, 0), 'unix-any': (99, 0), 'ports': (99, 4, 3, 0), 'bind': (99, 4, 3, 0),
        'unix-list': (99, 5)}
SECRETS = (
    'DBUS_SESSION_BUS_ADDRESS', 'SSH_AUTH_SOCK', 'DOCKER_HOST', 'NOTIFY_SOCKET', 'GPG_AGENT_INFO',
    'CREDENTIALS_DIRECTORY', 'ESCAPE_SECRET',
)  # fmt: skip
HOME_DIRECTORIES = (
    '.config/systemd/user', '.local/share/systemd/user', '.local/share/dbus-1/services', '.config/environment.d',
    '.config/autostart', '.config/mcp/servers.d', '.local/bin', '.ssh', '.run/systemd/user', '.cache', '.npm',
    '.run/gnupg', '.run/keyring', '.run/mcp', '.config/fish/conf.d', '.config/containers/systemd', '.config/pip',
    '.local/lib/python3/site-packages', '.local/share/applications', '.local/share/nautilus/scripts',
    '.mozilla/native-messaging-hosts', '.config/Code/User', '.config/user-tmpfiles.d', '.config/git', '.config/dconf',
)  # fmt: skip
OUTSIDE_FILES = (
    'write', 'truncate', 'open-trunc', 'unlink', 'rename', 'rename-in', 'exchange', 'link-in', 'secret', 'attributes',
)  # fmt: skip
# The attempts that a protection speaks of: where it is said to be enforced none of them may get through, and where it is
# said to be missing one of them has to.
CLAIMS = {
    'fs-write': ('write', 'create', 'mkdir', 'unlink', 'symlink', 'rename within outside', 'write through a symlink'),
    'fs-read': ('read', 'list', 'execute', 'read a private key'),
    'fs-refer': ('rename to outside', 'rename from outside', 'exchange', 'hard link from outside'),
    'fs-truncate': ('truncate by path', 'truncate by O_RDONLY|O_TRUNC'),
    'dev-ioctl': ('ioctl on a terminal device',),
    'tcp-connect': ('TCP connect', 'TCP connect by IPv6', 'TCP connect by a mapped address', 'fast open by sendto',
                    'fast open by sendmsg', 'fast open by sendmmsg', 'fast open by connect', 'TCP made into SMC'),
    'tcp-bind': ('TCP bind to any port',),
    'network': ('UDP', 'UDP by IPv6', 'UDP-Lite', 'MPTCP', 'netlink', 'vsock', 'ICMP', 'raw', 'packet',
                'family with a high bit', 'UDP, type with a high bit'),
    'unix-path': ('UNIX stream', 'UNIX packets', 'UNIX datagram', 'UNIX stream by a symlink', 'UNIX .run/bus',
                  'UNIX .run/systemd/private', 'UNIX .run/docker.sock', 'datagram pair to a path'),
    'unix-abstract': ('UNIX abstract', 'datagram pair to an abstract name'),
    'signal': ('kill', 'kill a process group', 'tgkill', 'sigqueue', 'pidfd_send_signal', 'SIGIO of a pipe to a process'),
    'syscalls': ('io_uring_setup', 'ptrace', 'mount', 'keyctl', 'bpf', 'x32 call', 'TIOCSTI', 'unshare',
                 'a call that is newer than the policy'),
    'rlimits': ('raise the limit of core files',),
}  # fmt: skip
# What is denied for another reason, too: EXDEV is what a missing REFER comes to, and no terminal can be opened.
DENIED_ALL_THE_SAME = ('fs-refer', 'dev-ioctl')
SYS_LANDLOCK_CREATE_RULESET = 444
LANDLOCK_CREATE_RULESET_VERSION = 1


def kernel_abi():
    """The kernel's own answer; 0 where it has no Landlock."""
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, libc.syscall(SYS_LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_CREATE_RULESET_VERSION))


class World:
    """Directories and the victim of one run."""

    def __init__(self, base, escape, sandbox, user):
        self.base = pathlib.Path(base)
        self.user = user
        self.inside, self.outside, self.home = (self.base / n for n in ('inside', 'outside', 'home'))
        self.escape, self.sandbox = (self.base / 'bin' / n for n in ('escape', 'mcp-sandbox'))
        self.tmp = self.base / 'tmp'
        for directory in (self.inside, self.outside, self.tmp, self.base / 'bin'):
            directory.mkdir()
        for name in HOME_DIRECTORIES:
            (self.home / name).mkdir(parents=True)
        (self.home / '.ssh/id_ed25519').write_text('secret\n')
        (self.outside / 'rmdir').mkdir()
        for name in OUTSIDE_FILES:
            (self.outside / name).write_text('outside\n')
        shutil.copy('/bin/true', self.outside / 'tool')
        shutil.copy(escape, self.escape)
        if sandbox:
            shutil.copy(sandbox, self.sandbox)
        if user:
            for path in [self.base, *self.base.rglob('*')]:
                os.chown(path, user.pw_uid, user.pw_gid)
            setuid = self.inside / 'setuid'
            shutil.copy(escape, setuid)
            setuid.chmod(0o4755)
        self.base.chmod(0o755)

    def popen(self, argv, **kwargs):
        """Starts a program as the world's user."""
        if self.user:
            kwargs |= {'user': self.user.pw_uid, 'group': self.user.pw_gid, 'extra_groups': []}
        return subprocess.Popen(argv, cwd=self.inside, **kwargs)

    @contextlib.contextmanager
    def victim(self):
        """The process that the attempts aim at; yields the arguments that describe it."""
        victim = self.popen(
            [self.escape, f'--be-victim={self.outside}', f'--home={self.home}'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={'SECRET': 'of the victim'},
        )  # fmt: skip
        try:
            yield victim.stdout.readline().split()
        finally:
            victim.stdin.close()
            victim.stdout.close()
            victim.wait(10)

    def argv(self, mode, abi, victim, inside=None):
        """The program that tries, and what it is told."""
        places = [f'--inside={inside or self.inside}', f'--outside={self.outside}', f'--home={self.home}']
        return [str(self.escape), f'--abi={abi}', f'--mode={mode}', *places, *victim]

    def definition(self, mode, argv, listed, bind):
        """What the sandbox is told, as a definition."""
        isolation = {'enforcement': 'best-effort'}
        ports = {'ports': {'connect': [listed]}, 'bind': {'bind': [bind]}, 'manifest': {}}
        if mode == 'blocked':
            isolation['network'] = 'blocked'
        elif mode == 'unix-any':
            isolation['unix_sockets'] = 'any'
        elif mode == 'unix-list':
            isolation['unix_sockets'] = [str(self.outside / 'listed.sock')]
        elif mode in ports:
            isolation['manifest'] = {'version': '0.1.0', 'network': {'mode': 'blocked', 'ports': ports[mode]}}
        text = {
            'command': argv[0],
            'args': argv[1:],
            'working_dir': str(self.inside),
            'isolation': isolation,
        }
        path = self.base / 'definition.json'
        path.write_text(json.dumps(text))
        return path

    def environment(self, abi):
        """HOME and TMPDIR are the world's; the secrets must not get through."""
        return {
            'PATH': '/usr/bin:/bin',
            'HOME': str(self.home),
            'TMPDIR': str(self.tmp),
            'XDG_RUNTIME_DIR': str(self.home / '.run'),
            'MCP_TEST_LANDLOCK_ABI': str(abi),
        } | {name: 'secret' for name in SECRETS}


def overclaims(world, lines, abi, only):
    """Where what mcp-sandbox says of a definition is not what the attempts came to."""
    if only:
        return []
    command = [world.sandbox, '--dry-run', '--json', f'--definition={world.base / "definition.json"}']
    with world.popen(command, stdout=subprocess.PIPE, env=world.environment(abi)) as process:
        rows = {row['id']: row for row in json.load(process.stdout)['plan']['protections']}
    parts = (line.partition(' - ')[2].rsplit(': ', 1) for line in lines if line.startswith('ok '))
    outcomes = {part[0]: part[1] for part in parts if len(part) == 2}
    wrong = [f'{row} is said to be {rows[row]["state"]}' for row in rows.keys() - CLAIMS.keys()
             if rows[row]['state'] == 'planned']
    for row, names in CLAIMS.items():
        state, tried = rows[row]['state'], [name for name in names if name in outcomes]
        through = [name for name in tried if outcomes[name].startswith('got through')]
        if state == 'planned' and (through or not tried):
            wrong.append(f'{row} is said to be enforced: {", ".join(through) or "nothing"} got through')
        if state == 'missing' and row not in DENIED_ALL_THE_SAME and tried and not through:
            wrong.append(f'{row} is said to be missing, and none of {", ".join(tried)} got through')
    return wrong


def free_port():
    """A port that nobody listens on."""
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        return s.getsockname()[1]


def run(world, mode, abi, only):
    """One run; its exit status and its lines."""
    with world.victim() as victim:
        bind = free_port()
        listed = next(int(a.split('=')[1]) for a in victim if a.startswith('--listed='))
        argv = [*world.argv(mode, abi, victim), f'--bind={bind}', *([f'--only={only}'] if only else [])]
        if mode != 'none':
            argv = [world.sandbox, f'--definition={world.definition(mode, argv, listed, bind)}']
        directory = os.open(world.outside, os.O_RDONLY)
        file = os.open(world.outside / 'write', os.O_RDWR)
        os.dup2(directory, 20, inheritable=True)
        os.dup2(file, 21, inheritable=True)
        process = world.popen(
            argv, stdin=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=world.environment(abi), pass_fds=(20, 21),
        )  # fmt: skip
        for fd in (directory, file, 20, 21):
            os.close(fd)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output.splitlines()


def other_user():
    """Whom the world belongs to when root starts it; None: the caller."""
    return pwd.getpwnam('nobody') if os.geteuid() == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('escape', help='the program that tries')
    parser.add_argument('sandbox', help='mcp-sandbox')
    parser.add_argument('--mode', choices=MODES, action='append', help='only this mode')
    parser.add_argument('--abi', type=int, action='append', help='only this ABI')
    parser.add_argument('--all', action='store_true', help='every mode on every ABI')
    parser.add_argument('--own', action='store_true', help="every mode on the kernel's own ABI alone")
    parser.add_argument('--only', help='only the attempt of this name')
    parser.add_argument('--expect-abi', type=int, help='fail if the kernel has another one')
    parser.add_argument('--or-later', action='store_true', help='but for a later one')
    parser.add_argument('--verbose', action='store_true', help='print every attempt')
    args = parser.parse_args()

    number, failed, newest = 0, 0, kernel_abi()
    if args.expect_abi not in (None, min(newest, args.expect_abi or 0) if args.or_later else newest):
        print(f'Bail out! this kernel has Landlock ABI {newest}, not {args.expect_abi}')
        return 1
    for mode in args.mode or MODES:
        abis = (newest,) if args.own else ABIS.get(mode) if not args.all else None
        for abi in args.abi or sorted({min(newest, a) for a in abis or range(newest + 1)}, reverse=True):
            # Not below /tmp, which every sandbox may write to.
            with tempfile.TemporaryDirectory(dir='/var/tmp', prefix='mcp-escape-') as base:
                world = World(base, args.escape, args.sandbox, other_user())
                status, lines = run(world, mode, abi, args.only)
                wrong = overclaims(world, lines, abi, args.only) if mode != 'none' else []
            attempts = [line for line in lines if line.startswith(('ok ', 'not ok '))]
            good = status == 0 and bool(attempts) and not wrong
            for line in wrong:
                print('# what is claimed:', line)
            number, failed = number + 1, failed + (not good)
            for line in lines:
                if args.verbose or (not good and not line.startswith('ok ')):
                    print('#', line)
            name = f'mode {mode}' + ('' if mode == 'none' else f', ABI {abi}')
            print(f'{"ok" if good else "not ok"} {number} - {name}: {len(attempts)} attempts', flush=True)
    print(f'1..{number}')
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
