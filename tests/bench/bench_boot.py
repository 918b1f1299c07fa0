# SPDX-License-Identifier: LGPL-2.1-or-later
"""What definitions cost at boot: the container is booted with and without them, and asked what its manager took for what."""

import subprocess
import sys

import bench_generator
import frame

WHERE = 'machine'
NUMBERS = (0, 1000)
TIMEOUT = 300
# Of org.freedesktop.systemd1.Manager: moments, in µs.
PHASES = {
    'all generators': ('GeneratorsStartTimestampMonotonic', 'GeneratorsFinishTimestampMonotonic'),
    'loading units': ('UnitsLoadStartTimestampMonotonic', 'UnitsLoadFinishTimestampMonotonic'),
    'all of it': ('UserspaceTimestampMonotonic', 'FinishTimestampMonotonic'),
}


def boot(bench, directory):
    """The manager's moments, of one boot with the definitions of a directory."""
    asked = [word for phase in PHASES.values() for moment in phase for word in ('--property', moment)]
    done = subprocess.run(
        [
            *(sys.executable, '-B', str(bench.tree / 'tests/bed/container'), 'run', '--quiet'),
            *(f'--build={bench.build}', f'--bind={directory}:/etc/mcp/servers.d'),
            *('--', 'systemctl', 'show', *asked),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if done.returncode != 0:
        raise frame.Failed(f'the container did not boot: {done.stderr.strip()[-500:]}')
    return dict(line.split('=', 1) for line in done.stdout.splitlines() if '=' in line)


def with_and_without(bench):
    samples = frame.Samples()
    for _ in range(bench.rounds(5)):
        for number in NUMBERS:
            directory = bench.scratch / f'boot-{number}'
            bench_generator.define(directory, number)
            moments = boot(bench, directory)
            for phase, (begin, end) in PHASES.items():
                samples.add(f'{phase}, with {number:,}', (int(moments[end]) - int(moments[begin])) / 1e3)
    return samples


MEASUREMENTS = (
    frame.Measurement(
        f'boot with {NUMBERS[1]:,} definitions',
        'of a container: what its manager says that it took for its generators, for loading units, and until it was up',
        'ms',
        with_and_without,
    ),
)
