# SPDX-License-Identifier: LGPL-2.1-or-later
"""What definitions cost at boot and at each daemon-reload: the generator's time, and the manager's for reading its units.

At boot the generator runs once as well, beside all others; what it takes is the same.
"""

import shutil
import subprocess

import bench_generator
import frame
import world

WHERE = 'container'
NUMBERS = (0, 10, 100, 1000)


TIMEOUT = 300


def daemon_reload():
    subprocess.run(['systemctl', 'daemon-reload'], check=True, timeout=TIMEOUT)


def measure(bench, directory, generator, samples):
    for number in NUMBERS:
        bench_generator.define(directory, number)
        for turn in range(bench.rounds(10) + 1):
            took = frame.elapsed_ms(daemon_reload)
            if turn:
                samples.add(f'daemon-reload with {number:,}', took)
        out = bench.scratch / f'units-{number}'
        out.mkdir()
        command = [f'{generator}/mcp-server-generator', str(out)]
        samples.add(
            f'of it the generator, with {number:,}',
            frame.elapsed_ms(lambda c=command: subprocess.run(c, env={'SYSTEMD_SCOPE': 'system'}, check=True)),
        )


def reload(bench):
    samples = frame.Samples()
    where = world.World('system')
    generator = next(
        path
        for path in ('/usr/lib/systemd/system-generators', '/lib/systemd/system-generators')
        if shutil.which('mcp-server-generator', path=path)
    )
    try:
        measure(bench, where.definitions, generator, samples)
    finally:
        # What is measured next must not have a thousand servers beside it.
        shutil.rmtree(where.definitions)
        daemon_reload()
    return samples


MEASUREMENTS = (
    frame.Measurement('daemon-reload', 'with 0 to 1,000 definitions', 'ms', reload),
)
