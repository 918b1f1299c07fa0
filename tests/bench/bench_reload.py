# SPDX-License-Identifier: LGPL-2.1-or-later
"""What definitions cost at boot and at each daemon-reload: the generator's time, and the manager's for reading its units.

At boot the generator runs once as well, beside all others; what it takes is the same.
"""

import shutil
import subprocess
import time

import bench_generator
import frame
import world

WHERE = 'container'
NUMBERS = (0, 10, 100, 1000)


def reload(bench):
    samples = frame.Samples()
    where = world.World('system')
    generator = next(
        path
        for path in ('/usr/lib/systemd/system-generators', '/lib/systemd/system-generators')
        if shutil.which('mcp-server-generator', path=path)
    )
    for number in NUMBERS:
        bench_generator.define(where.definitions, number)
        for turn in range(bench.rounds(10) + 1):
            took = frame.elapsed_ms(where.reload)
            if turn:
                samples.add(f'daemon-reload with {number:,}', took)
        out = bench.scratch / f'units-{number}'
        out.mkdir()
        command = [f'{generator}/mcp-server-generator', str(out)]
        samples.add(
            f'of it the generator, with {number:,}',
            frame.elapsed_ms(lambda c=command: subprocess.run(c, env={'SYSTEMD_SCOPE': 'system'}, check=True)),
        )
    shutil.rmtree(where.definitions)
    where.reload()
    time.sleep(0.1)
    return samples


MEASUREMENTS = (
    frame.Measurement('daemon-reload', 'with 0 to 1,000 definitions', 'ms', reload),
)
