# SPDX-License-Identifier: LGPL-2.1-or-later
"""mcp-sandbox beside what else confines a command."""

import os
import re
import shutil
import subprocess

import frame
import peers

WHERE = 'machine'
TRUE = '/bin/true'
BARE = 'fork+exec'
OURS = 'mcp-sandbox'


def ours(bench):
    return [bench.program('src/sandbox-exec', 'mcp-sandbox'), '--', TRUE]


def start(bench):
    """exec-only is what no program can be faster than that confines itself and then executes another."""
    samples = frame.Samples()
    commands = {BARE: [TRUE], 'exec-only': [bench.helper('exec-only'), TRUE], OURS: ours(bench)}
    for name in ('bwrap', 'firejail', 'minijail', 'landrun'):
        try:
            commands[name] = [*getattr(peers, name)(bench, str(bench.scratch)), TRUE]
        except frame.Skip as e:
            samples.skip(name, str(e))
    return bench.spawn(samples, commands, bench.rounds(300), cwd=bench.scratch)


def start_beside_setpriv(bench):
    samples = frame.Samples()
    root = peers.chroot(bench)
    commands = {
        BARE: [TRUE],
        OURS: ['/usr/local/bin/mcp-sandbox', '--', TRUE],
        'setpriv': [*peers.setpriv(bench, root, '/root'), TRUE],
    }
    return bench.spawn(samples, commands, bench.rounds(200), chroot=root)


def start_beside_sandbox_runtime(bench):
    samples = frame.Samples()
    runtime = [*peers.sandbox_runtime(bench, str(bench.scratch)), TRUE]
    commands = {OURS: ours(bench), 'sandbox-runtime': runtime}
    return bench.spawn(samples, commands, bench.rounds(10), warm_up=1, cwd=bench.scratch)


# -- what no other program on the machine can disturb ---------------------------------------


def system_calls(command):
    done = subprocess.run(
        ['strace', '-f', '-c', '-U', 'calls,name', *command], capture_output=True, text=True, check=False
    )
    total = re.search(r'^\s*(\d+)\s+total$', done.stderr, re.MULTILINE)
    if done.returncode != 0 or not total:
        raise frame.Failed(f'strace {command[0]}: {done.stderr.strip()[:200]}')
    return int(total[1])


def calls(bench):
    samples = frame.Samples()
    bench.peer('strace', 'strace')
    commands = {BARE: [TRUE], OURS: ours(bench), 'bwrap': None}
    try:
        commands['bwrap'] = [*peers.bwrap(bench, str(bench.scratch)), TRUE]
    except frame.Skip as e:
        samples.skip('bwrap', str(e))
    for name, command in commands.items():
        if command:
            samples.add(name, system_calls(command))
    return samples


def page_faults(bench):
    """Each is a page of a program or a library that is mapped, copied or cleared: what starting a program consists of."""
    samples = frame.Samples()
    commands = {BARE: [TRUE], 'exec-only': [bench.helper('exec-only'), TRUE], OURS: ours(bench)}
    try:
        commands['bwrap'] = [*peers.bwrap(bench, str(bench.scratch)), TRUE]
    except frame.Skip as e:
        samples.skip('bwrap', str(e))
    for name, command in commands.items():
        for _ in range(5):
            pid = os.posix_spawn(command[0], command, os.environ)
            _, status, usage = os.wait4(pid, 0)
            if status != 0:
                raise frame.Failed(f'{command[0]} ended with status {status}')
            samples.add(name, usage.ru_minflt)
    return samples


def libraries(bench):
    """What the dynamic loader has to load for us: it takes longer than what we do."""
    samples = frame.Samples()
    for name, program in {'true': TRUE, OURS: ours(bench)[0], 'bwrap': shutil.which('bwrap')}.items():
        if program:
            done = subprocess.run(['ldd', program], capture_output=True, text=True, check=True)
            samples.add(name, done.stdout.count('=>'))
        else:
            samples.skip(name, 'it is not installed')
    return samples


MEASUREMENTS = (
    frame.Measurement(
        'start',
        'from fork to the end of /bin/true, bare and confined',
        'ms',
        start,
        (
            frame.above(OURS, BARE, 1.0, 'ms'),
            frame.ratio(OURS, 'bwrap', 1.0),
            frame.ratio(OURS, 'firejail', 1.0),
            frame.ratio(OURS, 'minijail', 1.0),
            frame.ratio(OURS, 'landrun', 1.0),
        ),
    ),
    frame.Measurement(
        'start beside setpriv',
        "the same in a root of a newer suite, whose setpriv has Landlock: same capabilities, filter and paths",
        'ms',
        start_beside_setpriv,
        (frame.ratio(OURS, 'setpriv', 1.0),),
    ),
    frame.Measurement(
        'start beside sandbox-runtime',
        'the same beside the sandbox that people of this trade take from npm',
        'ms',
        start_beside_sandbox_runtime,
        (frame.ratio(OURS, 'sandbox-runtime', 0.01),),
    ),
    frame.Measurement('system calls', 'of a confined /bin/true, with those of /bin/true itself', 'calls', calls),
    frame.Measurement('page faults', 'from fork to the end of /bin/true', 'page faults', page_faults),
    frame.Measurement('libraries', 'that have to be loaded before main()', 'libraries', libraries),
)
