# SPDX-License-Identifier: LGPL-2.1-or-later
"""What people would use instead of mcp-sandbox, each with the policy that comes nearest to our default: everything can be
read and executed, only /tmp and the current directory can be written, and no privilege can be gained."""

import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys

import frame

TREE = pathlib.Path(__file__).resolve().parents[2]
NPM_DIR = TREE / 'build-npm-bench'
sys.path.append(str(TREE / 'tests/bed'))

import kernels

WRITE = 'execute,read-file,read-dir,write-file,remove-dir,remove-file,make-dir,make-reg,make-sock,make-fifo,make-sym'
READ = 'execute,read-file,read-dir'
DEVICES = ('null', 'zero', 'full', 'random', 'urandom', 'tty')


def bwrap(bench, cwd):
    options = ['--ro-bind', '/', '/', '--dev', '/dev', '--bind', '/tmp', '/tmp', '--bind', cwd, cwd]
    return [bench.peer('bwrap', 'bubblewrap'), *options, '--die-with-parent', '--unshare-ipc', '--']


def firejail(bench, cwd):
    options = ['--quiet', '--noprofile', '--caps.drop=all', '--nonewprivs', '--seccomp', '--read-only=/']
    return [bench.peer('firejail', 'firejail'), *options, '--read-write=/tmp', f'--read-write={cwd}', '--']


def minijail(bench, cwd):
    options = ['-n', '--fs-path-rx=/', '--fs-path-advanced-rw=/tmp', f'--fs-path-advanced-rw={cwd}']
    return [bench.peer('minijail0', 'no package in Debian has it'), *options, '--']


def landrun(bench, cwd):
    options = ['--rox', '/', '--rw', '/tmp', '--rw', cwd, '--unrestricted-network']
    return [bench.peer('landrun', 'no package in Debian has it'), *options, '--']


def sandbox_runtime(bench, cwd):
    """From npm; installed where it isn't yet."""
    npm = bench.peer('npm', 'npm')
    wanted = pathlib.Path(__file__).with_name('package.json')
    program = NPM_DIR / 'node_modules/.bin/srt'
    if not program.exists() or (NPM_DIR / 'package.json').read_bytes() != wanted.read_bytes():
        NPM_DIR.mkdir(exist_ok=True)
        shutil.copy(wanted, NPM_DIR)
        done = subprocess.run(
            [npm, 'install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
            cwd=NPM_DIR,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise frame.Skip(f'npm cannot install sandbox-runtime: {done.stderr.strip().splitlines()[:1]}')
    settings = bench.scratch / 'srt.json'
    settings.write_text(
        '{"network": {"allowedDomains": [], "deniedDomains": []},'
        f' "filesystem": {{"denyRead": [], "allowWrite": ["/tmp", "{cwd}"], "denyWrite": []}}}}',
        encoding='utf-8',
    )
    return [str(program), '--settings', str(settings)]


# -- setpriv: only newer util-linux has its Landlock -------------------------------------


def chroot(bench):
    """A root of a newer suite, the one of the emulated machines, with what is needed of ours in it."""
    for name in ('debootstrap', 'cpio', 'zstd'):
        bench.peer(name, name)
    cache = pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache')
    try:
        archive = kernels.base_archive('trixie', cache / 'mcp-systemd/vm')
    except kernels.BedError as e:
        raise frame.Skip(f'no root of a newer suite: {str(e).splitlines()[0]}') from e
    root = bench.scratch / 'root'
    root.mkdir()
    with subprocess.Popen(['zstd', '-dcq', str(archive)], stdout=subprocess.PIPE) as unpacked:
        subprocess.run(['cpio', '-idm', '--quiet'], cwd=root, stdin=unpacked.stdout, check=True)
    for source in (bench.helper('spawn-race'), bench.program('src/sandbox-exec', 'mcp-sandbox')):
        shutil.copy(source, root / 'usr/local/bin')
    return root


def filter_bytes(bench):
    """Our own system call filter as setpriv takes it: the one of the default plan (no UNIX sockets, any network)."""
    text = (bench.build / 'src/sandbox/filters.inc').read_text(encoding='utf-8')
    body = re.search(r'filter_1\[\] = \{(.*?)\};', text, re.DOTALL)[1]
    return b''.join(
        struct.pack('=HBBI', *(int(n, 0) for n in row))
        for row in re.findall(r'\{ (\S+), (\S+), (\S+), (\S+) \}', body)
    )


def setpriv(bench, root, cwd):
    rules = [f'path-beneath:{READ}:/', f'path-beneath:{WRITE}:{cwd}', f'path-beneath:{WRITE}:/tmp']
    rules += [f'path-beneath:read-file,write-file:/dev/{name}' for name in DEVICES]
    (root / 'filter.bpf').write_bytes(filter_bytes(bench))
    return [
        '/usr/bin/setpriv',
        *('--no-new-privs', '--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all'),
        *('--landlock-access=fs', *(f'--landlock-rule={rule}' for rule in rules)),
        '--seccomp-filter=/filter.bpf',
        '--',
    ]
