#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""mcp-sandbox as people start it: exit codes, what it says, and real programs inside.

  test-mcp-sandbox.py MCP-SANDBOX
"""

import contextlib
import ctypes
import json
import os
import pathlib
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tree'))
from cases import Skip, case, run  # noqa: E402 pylint: disable=wrong-import-position

SANDBOX = pathlib.Path(sys.argv[1]).resolve()
PYTHON = '/usr/bin/python3'


class World:
    """A home, a directory to work in and one outside of it."""

    def __init__(self, top):
        self.top = top
        self.home, self.work, self.outside = (top / name for name in ('home', 'work', 'outside'))
        for directory in (self.home, self.work, self.outside, top / 'tmp'):
            directory.mkdir()
        (self.outside / 'file').write_text('outside\n')

    def run(self, *args, status=0, env=None, **kwargs):
        done = subprocess.run([SANDBOX, *args], check=False, capture_output=True, text=True, cwd=self.work, timeout=60,
                              env={'HOME': str(self.home), 'PATH': '/usr/bin:/bin', 'LANG': 'C.UTF-8',
                                   'TMPDIR': str(self.top / 'tmp'),
                                   # The leak checker needs ptrace, which the sandbox refuses.
                                   'ASAN_OPTIONS': 'detect_leaks=0', **(env or {})}, **kwargs)
        if status is not None:
            assert done.returncode == status, f'exit status {done.returncode}, not {status}:\n{done.stdout}{done.stderr}'
        return done

    def manifest(self, name='m.json', **members):
        path = self.top / name
        path.write_text(json.dumps({'version': '0.1.0', **members}))
        return f'--manifest={path}'


@contextlib.contextmanager
def world():
    # Not below /tmp, which the baseline may grant.
    top = pathlib.Path(tempfile.mkdtemp(dir='/var/tmp', prefix='mcp-test-'))
    try:
        yield World(top)
    finally:
        shutil.rmtree(top, ignore_errors=True)


def needs_landlock(abi=1):
    found = ctypes.CDLL(None).syscall(444, None, 0, 1)  # landlock_create_ruleset(NULL, 0, VERSION)
    if found < abi:
        raise Skip(f'needs Landlock ABI {abi}')


def needs(program):
    if not shutil.which(program, path='/usr/bin:/bin'):
        raise Skip(f'{program} is not installed')


@case
def exit_codes():
    with world() as w:
        w.run('--', 'true')
        w.run('--', 'sh', '-c', 'exit 7', status=7)
        assert w.run('--', 'sh', '-c', 'kill -9 $$', status=None).returncode == -9
        w.run(status=2)
        w.run('--no-such-option', status=2)
        w.run('--json', 'true', status=2)
        w.run('--network=perhaps', 'true', status=2)
        w.run('--working-dir=/does/not/exist', 'true', status=2)
        w.run(f'--write={w.home}/none', 'true', status=2)
        w.run('--', 'no-such-program', status=127)
        w.run('--', str(w.outside / 'file'), status=126)
        w.run('--', '/', status=126)
        (w.work / 'script').write_text('#!/no/interpreter\n')
        (w.work / 'script').chmod(0o755)
        w.run('--', './script', status=126)
        (w.work / 'broken').write_text('not a program\n')
        (w.work / 'broken').chmod(0o755)
        w.run('--', './broken', status=126)
        (w.home / '.ssh').mkdir()
        w.run(f'--write={w.home}/.ssh', 'true', status=3)
        w.run(f'--write={w.home}', 'true', status=3)
        w.run('--help')
        w.run('--version')


@case
def writes_are_where_they_are_granted():
    with world() as w:
        needs_landlock()
        w.run('sh', '-c', 'echo x >here && echo x >"$TMPDIR/there" && echo x >"$HOME/.cache/c" && echo x >/dev/null')
        assert (w.work / 'here').exists()
        done = w.run('sh', '-c', f'echo x >{w.outside}/new', status=2)
        assert 'ermission denied' in done.stderr
        assert not (w.outside / 'new').exists()
        w.run(f'--write={w.outside}', 'sh', '-c', f'echo x >{w.outside}/new')
        w.run('--write=../outside', 'sh', '-c', f'echo x >{w.outside}/new2')


@case
def a_key_to_the_house_that_is_not_there_yet_is_not_granted_behind_a_link():
    """As ~/.config is where dotfiles are managed: the server would make ~/.config/autostart by its other name."""
    with world() as w:
        needs_landlock()
        config = w.outside / 'dot files'
        config.mkdir()
        (w.home / '.config').symlink_to(config)
        for granted in (config, w.home / '.config', w.outside):
            done = w.run(f'--write={granted}', 'true', status=3)
            assert f'{w.home}/.config' in done.stderr, done.stderr
        (config / 'app').mkdir()
        w.run(f'--write={config}/app', 'true')


@case
def few_descriptors_are_enough_for_many_rules():
    """Soft: the sandbox itself has to get by with them.  Hard: what cannot be raised is kept, also as root that may not."""
    few = 12
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with world() as w:
        done = w.run('sh', '-c', 'ulimit -n',
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, most)))
        assert int(done.stdout) == (4096 if most < 0 else min(4096, most)), done.stdout
        done = w.run('sh', '-c', 'ulimit -n',
                     preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)))
        assert int(done.stdout) in (64, 4096), done.stdout


@case
def arguments_are_literal():
    with world() as w:
        done = w.run('--', 'printf', '%s|', '${HOME}', '${UNSET}', '$(id)', '~/x', '', 'a b', '--help')
        assert done.stdout == '${HOME}|${UNSET}|$(id)|~/x||a b|--help|', done.stdout


@case
def environment_is_cut_down():
    with world() as w:
        done = w.run('--env=A=1', '--env=PASSED', 'env', '-0',
                     env={'PASSED': 'on', 'SECRET': 's', 'DBUS_SESSION_BUS_ADDRESS': 'x', 'LD_PRELOAD': ''})
        found = dict(line.split('=', 1) for line in done.stdout.split('\0') if line)
        assert found['A'] == '1' and found['PASSED'] == 'on'
        assert not {'SECRET', 'DBUS_SESSION_BUS_ADDRESS', 'LD_PRELOAD', 'MCP_TEST_LANDLOCK_ABI'} & set(found)
        assert found['PATH'].startswith('/usr/bin:/bin:') and f'{w.home}/.local/bin' in found['PATH']


@case
def a_home_is_no_place_to_write():
    with world() as w:
        needs_landlock()
        (w.home / '.ssh').mkdir()
        w.run('true')
        done = subprocess.run([SANDBOX, 'sh', '-c', 'echo x >.ssh/authorized_keys || echo x >new'], cwd=w.home, check=False,
                              capture_output=True, text=True, env={'HOME': str(w.home), 'PATH': '/usr/bin:/bin'})
        assert done.returncode != 0
        assert not (w.home / '.ssh/authorized_keys').exists() and not (w.home / 'new').exists()


@case
def caches_can_be_filled_from_any_directory():
    for place in ('home', 'work', 'top'):
        with world() as w:
            needs_landlock()
            done = subprocess.run([SANDBOX, 'sh', '-c', 'echo x >"$HOME/.npm/x" && echo x >"$HOME/.cache/x"'],
                                  cwd=getattr(w, place), check=False, capture_output=True, text=True,
                                  env={'HOME': str(w.home), 'PATH': '/usr/bin:/bin'})
            assert done.returncode == 0, f'{place}: {done.stderr}'


@case
def what_is_missing_is_said():
    with world() as w:
        needs_landlock()
        done = w.run('true', env={'MCP_TEST_LANDLOCK_ABI': '0'})
        assert 'DEGRADED/unconfined' in done.stderr, done.stderr
        done = w.run('--strict', 'true', env={'MCP_TEST_LANDLOCK_ABI': '0'}, status=3)
        assert 'fs-write' in done.stderr
        done = w.run('--strict', 'true', env={'MCP_TEST_LANDLOCK_ABI': '2'}, status=3)
        text = ' '.join(done.stderr.split())
        assert 'fs-truncate' in text and 'Linux 6.2' in text and 'found ABI 2' in text, text
        assert 'DEGRADED' not in w.run('true', env={'MCP_TEST_LANDLOCK_ABI': '99'}).stderr


@case
def dry_run_runs_nothing():
    with world() as w:
        done = w.run('--dry-run', 'touch', 'made')
        assert not (w.work / 'made').exists()
        assert str(w.work) in done.stdout and 'fs-write' in done.stdout
        answer = json.loads(w.run('--dry-run', '--json', '--env=TOKEN=hunter2', 'touch', 'made').stdout)
        assert answer['problems'] == [] or all(p['level'] != 'error' for p in answer['problems'])
        assert 'hunter2' not in json.dumps(answer)
        assert json.loads(w.run('--dry-run', '--json', 'no-such', status=2).stdout)['problems']
        w.run('--dry-run', '--strict', 'true', env={'MCP_TEST_LANDLOCK_ABI': '0'}, status=3)
        assert not (w.home / '.npm').exists()


@case
def network_blocked_is_blocked():
    script = ('import socket, sys\n'
              'for f in range(0, 46):\n'
              '    for t in (1, 2, 3, 5):\n'
              '        for p in (0, 1, 6, 17, 58, 262):\n'
              '            try: socket.socket(f, t, p)\n'
              '            except OSError: continue\n'
              '            sys.exit(f"family {f} type {t} protocol {p}")\n'
              'socket.socketpair()\n')
    with world() as w:
        needs(PYTHON)
        w.run('--network=blocked', PYTHON, '-c', script)


@case
def ports_of_a_manifest():
    script = ('import socket, sys\n'
              'def connect(port):\n'
              '    s = socket.socket()\n'
              '    try: s.connect(("127.0.0.1", port))\n'
              '    except OSError as e: return e.errno\n'
              '    return 0\n'
              'def udp():\n'
              '    try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n'
              '    except OSError as e: return e.errno\n'
              '    return 0\n'
              'print(connect(int(sys.argv[1])), connect(int(sys.argv[2])), udp())\n')
    with world() as w, socket.socket() as one, socket.socket() as two:
        needs(PYTHON)
        needs_landlock(4)
        ports = []
        for s in (one, two):
            s.bind(('127.0.0.1', 0))
            s.listen(5)
            ports.append(s.getsockname()[1])
        threading.Thread(target=one.accept, daemon=True).start()
        manifest = w.manifest(network={'mode': 'blocked', 'ports': {'connect': [ports[0]]}})
        done = w.run(manifest, PYTHON, '-c', script, *map(str, ports))
        assert done.stdout.split() == ['0', '13', '97'], done.stdout + done.stderr


@case
def a_manifest_confines_reads():
    with world() as w:
        needs(PYTHON)
        needs_landlock(6)
        (w.home / 'secret').write_text('s')
        read = f'open("{w.outside}/file").read()'
        w.run(w.manifest(), PYTHON, '-c', 'import ssl, json, subprocess; subprocess.run(["true"]); open("x", "w")')
        assert 'PermissionError' in w.run(w.manifest(), PYTHON, '-c', read, status=1).stderr
        assert 'PermissionError' in w.run(w.manifest(), PYTHON, '-c', f'open("{w.home}/secret")', status=1).stderr
        granted = w.manifest(filesystem={'grants': [{'path': str(w.outside), 'access': 'read'}]})
        w.run(granted, PYTHON, '-c', read)
        assert 'PermissionError' in w.run(granted, PYTHON, '-c', f'open("{w.outside}/new", "w")', status=1).stderr
        own = w.manifest(filesystem={'grants': [{'path': '/proc/self', 'access': 'read'},
                                                {'path': '/dev/stdout', 'access': 'readwrite', 'type': 'file'}]})
        assert w.run(own, 'sh', '-c', 'echo through >/dev/stdout').stdout == 'through\n'


@case
def real_runtimes_start_with_a_minimal_manifest():
    with world() as w:
        needs_landlock(6)
        manifest = w.manifest(network={'mode': 'blocked'})
        started = 0
        for command in (['node', '-e', 'console.log("up")'], ['/usr/bin/python3', '-c', 'print("up")'],
                        ['perl', '-e', 'print "up\\n"'], ['sh', '-c', 'echo up']):
            if shutil.which(command[0], path='/usr/bin:/bin'):
                assert w.run(manifest, *command).stdout == 'up\n', command
                started += 1
        assert started >= 1


@case
def multiprocessing_works():
    with world() as w:
        needs(PYTHON)
        done = w.run(PYTHON, '-c', 'import multiprocessing as m\nwith m.Pool(2) as p: print(p.map(abs, [-1, 2]))')
        assert done.stdout == '[1, 2]\n', done.stderr


@case
def a_definition_runs():
    with world() as w:
        path = w.top / 'server.json'
        path.write_text(json.dumps({'command': 'sh', 'args': ['-c', 'echo "$A"; pwd'], 'env': {'A': '${LANG}'},
                                    'working_dir': str(w.outside)}))
        assert w.run(f'--definition={path}').stdout == f'C.UTF-8\n{w.outside}\n'
        assert w.run(f'--definition={path}', 'echo', 'other').stdout == 'other\n'
        path.write_text('{ "command": "sh", "isolation": { "mod": "none" } }')
        assert ':1:' in w.run(f'--definition={path}', status=2).stderr
        w.run(f'--definition={w.top}/none.json', status=2)
        path.write_text(json.dumps({'command': 'true', 'isolation': {'mode': 'docker'}}))
        assert 'docker' in w.run(f'--definition={path}', status=3).stderr


@case
def a_private_home():
    with world() as w:
        done = w.run('--name=mine', '--home=private', 'sh', '-c', 'echo "$HOME"; echo x >"$HOME/f" && echo x >"$TMPDIR/t"')
        assert done.stdout.strip() == f'{w.home}/.local/state/mcp/mine', done.stdout
        assert (w.home / '.local/state/mcp/mine/tmp/t').exists()


@case
def descriptors_do_not_leak():
    with world() as w, open(os.devnull, encoding='ascii') as leak:
        os.set_inheritable(leak.fileno(), True)
        done = w.run('sh', '-c', f'(: <&{leak.fileno()}) 2>/dev/null && echo leaked || echo closed', pass_fds=[leak.fileno()])
        assert done.stdout == 'closed\n', done.stdout


def system_calls(w, *args):
    """What a start calls, a line a call, from its exec to that of the program."""
    needs('strace')
    trace = w.top / 'trace'
    done = subprocess.run(['strace', '-f', '-o', trace, SANDBOX, *args], check=False, capture_output=True, text=True,
                          cwd=w.work, timeout=60,
                          env={'HOME': str(w.home), 'PATH': '/usr/bin:/bin', 'TMPDIR': str(w.top / 'tmp'),
                               'ASAN_OPTIONS': 'detect_leaks=0'})
    if done.returncode != 0 and 'ptrace' in done.stderr:
        raise Skip('nothing can be traced here')
    assert done.returncode == 0, done.stderr
    lines = [line.split(None, 1)[1] for line in trace.read_text(errors='replace').splitlines()]
    last = [i for i, line in enumerate(lines) if line.startswith('execve(')][-1]
    return lines[:last]


def count(lines, *words):
    return sum(all(word in line for word in words) for line in lines)


@case
def a_start_costs_what_its_paths_cost():
    """The filter was compiled with us, and each path and port is one rule: nothing is made twice, nothing is made up."""
    with world() as w:
        needs_landlock(4)
        grants = []
        for number in range(40):
            (w.outside / f'd{number}').mkdir()
            (w.outside / f'f{number}').touch()
            grants += [{'path': str(w.outside / f'd{number}'), 'access': 'read'},
                       {'path': str(w.outside / f'f{number}'), 'access': 'readwrite', 'type': 'file'}]
        totals = []
        for chosen in ([], grants[:40], grants):
            manifest = w.manifest(filesystem={'grants': chosen},
                                  network={'mode': 'blocked', 'ports': {'connect': [80, 443], 'bind': [8080]}})
            plan = json.loads(w.run('--dry-run', '--json', manifest, 'true').stdout)['plan']
            rules = [r for r in plan['files']['rules'] if os.path.exists(r['path'])]
            assert sum(r['path'].startswith(str(w.outside)) for r in rules) == len(chosen), rules
            lines = system_calls(w, manifest, 'true')
            assert count(lines, 'landlock_add_rule(', '= 0') == count(lines, 'landlock_add_rule(') == len(rules) + 3
            # Two: the probe asks whether the kernel knows what its ABI says.
            assert count(lines, 'landlock_create_ruleset({') == 2
            assert count(lines, 'landlock_restrict_self(') == 1
            assert count(lines, 'prctl(PR_SET_SECCOMP') == 1
            assert count(lines, 'libseccomp') == count(lines, 'memfd_create') == 0
            totals.append(len(lines))
        # The second half costs what the first one did, give or take the pages that memory comes in.
        first, second = totals[1] - totals[0], totals[2] - totals[1]
        assert 40 <= second <= first + 20, totals


if __name__ == '__main__':
    sys.exit(run())
