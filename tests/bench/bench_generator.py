# SPDX-License-Identifier: LGPL-2.1-or-later
"""The generator beside a loop that writes the same files, which it can never be faster than."""

import json
import os
import pathlib
import shutil
import subprocess

import frame

WHERE = 'machine'
FEW, MANY = 1000, 10000
GENERATOR, LOOP = 'generator', 'bare loop'


def definition(number):
    """What people write, more or less."""
    return {
        'command': 'npx',
        'args': ['-y', '@modelcontextprotocol/server-filesystem', f'/srv/data/{number}'],
        'env': {'LOG_LEVEL': 'info', 'PROJECT': f'project-{number}'},
        'isolation': {'write': [f'/srv/data/{number}']},
        'limits': {'memory': '512M', 'tasks': 64},
    }


def define(directory, count):
    directory.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        (directory / f'server-{number:05}.json').write_text(json.dumps(definition(number), indent=2), encoding='ascii')


class Tree:
    """Definitions of a system, and where their units go: in memory, as /run is."""

    def __init__(self, bench, count):
        self.top = pathlib.Path('/dev/shm') / f'mcp-bench-{os.getpid()}-{count}'
        self.bench, self.count = bench, count
        self.out = [self.top / name for name in ('normal', 'early', 'late')]
        self.model = self.top / 'model'

    def __enter__(self):
        define(self.top / 'root/etc/mcp/servers.d', self.count)
        self.generate()
        shutil.copytree(self.out[0], self.model, symlinks=True)
        sockets = len(list(self.model.glob('*.socket')))
        if sockets != self.count:
            raise frame.Failed(f'{sockets} sockets for {self.count} definitions')
        return self

    def __exit__(self, *exc):
        shutil.rmtree(self.top, ignore_errors=True)

    def empty(self):
        for directory in self.out:
            shutil.rmtree(directory, ignore_errors=True)
            directory.mkdir()

    def generate(self):
        self.empty()
        program = self.bench.program('generators', 'mcp-server-generator')
        command = [self.bench.helper('spawn-race'), '1', '0', '++', program, f'--root={self.top}/root']
        environment = {'SYSTEMD_SCOPE': 'system', 'PATH': '/usr/bin:/bin'}
        done = subprocess.run(
            [*command, *map(str, self.out)], env=environment, stdout=subprocess.PIPE, check=True, text=True
        )
        return int(done.stdout) / 1e6

    def write(self):
        self.empty()
        command = [*self.bench.urgent, self.bench.helper('write-files'), str(self.model), str(self.out[0])]
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
        return int(done.stdout) / 1e6


def beside_a_loop(bench):
    with Tree(bench, FEW) as tree:
        return bench.race(frame.Samples(), {GENERATOR: tree.generate, LOOP: tree.write}, bench.rounds(30))


def linear(bench):
    """Time for each definition, with ten times as many."""
    samples = frame.Samples()
    with Tree(bench, FEW) as few, Tree(bench, MANY) as many:
        bench.race(
            samples,
            {
                f'each of {FEW:,}': lambda: few.generate() / FEW * 1000,
                f'each of {MANY:,}': lambda: many.generate() / MANY * 1000,
            },
            bench.rounds(10),
            warm_up=1,
        )
    return samples


MEASUREMENTS = (
    frame.Measurement(
        f'{FEW:,} definitions',
        'from fork to the end of the generator, and of a loop that writes the same files',
        'ms',
        beside_a_loop,
        (frame.ratio(GENERATOR, LOOP, 1.5),),
    ),
    frame.Measurement(
        f'{MANY:,} definitions',
        'what a definition costs does not grow with their number',
        'µs',
        linear,
        (
            frame.ratio(
                f'each of {MANY:,}', f'each of {FEW:,}', 1.1, text='linear: each of ten times as many at most 1.1 times as long'
            ),
        ),
    ),
)
