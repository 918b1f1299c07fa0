# SPDX-License-Identifier: LGPL-2.1-or-later
"""What it costs a program to run confined: single system calls, and whole programs as servers start them."""

import contextlib
import pathlib
import shutil
import subprocess
import sys

import frame

WHERE = 'machine'
CALLS = 20000

PACKAGE = '{"name": "dependency", "version": "1.0.0"}'

PYTHON_TESTS = """
import unittest, json, os, tempfile

class Cases(unittest.TestCase):
    pass

def make(number):
    def case(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, 'x.json')
            with open(path, 'w') as f:
                json.dump({str(i): i for i in range(50)}, f)
            with open(path) as f:
                self.assertEqual(len(json.load(f)), 50)
    return case

for number in range(200):
    setattr(Cases, f'test_{number}', make(number))
unittest.main()
"""

SQLITE = """
import sqlite3
with sqlite3.connect('x.db') as db:
    db.execute('PRAGMA journal_mode=DELETE')
    db.execute('PRAGMA synchronous=OFF')
    db.execute('CREATE TABLE IF NOT EXISTS t (a INTEGER PRIMARY KEY, b TEXT)')
    for number in range(300):
        with db:
            db.execute('INSERT INTO t (b) VALUES (?)', (str(number),))
    assert db.execute('SELECT count(*) FROM t WHERE b LIKE "1%"').fetchone()[0] > 0
    db.execute('DROP TABLE t')
"""


def confined(bench):
    return [bench.program('src/sandbox-exec', 'mcp-sandbox'), '--network=unrestricted', '--']


def ratio_note(samples, name):
    """How many times as long inside, as a sentence below the figures."""
    columns = [samples.series[f'{name}, {where}'] for where in ('inside', 'outside')]
    value, (low, high) = frame.medians_ratio(*columns), frame.interval(frame.medians_ratio, *columns)
    samples.note(f'{name}: {value:.2f} × ({low:.2f} to {high:.2f})')


def calls(bench):
    samples = frame.Samples()
    directory = bench.scratch / 'calls'
    directory.mkdir(exist_ok=True)
    command = [*bench.urgent, bench.helper('call-loop'), str(bench.rounds(CALLS)), str(directory)]
    for turn in range(bench.rounds(15)):
        both = {'outside': command, 'inside': [*bench.urgent, *confined(bench), *command[len(bench.urgent) :]]}
        for where in sorted(both, reverse=bool(turn % 2)):
            done = subprocess.run(both[where], cwd=directory, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise frame.Failed(f'call-loop {where}: {done.stderr.strip()}')
            for line in done.stdout.splitlines():
                call, nanoseconds = line.split('\t')
                samples.add(f'{call}, {where}', float(nanoseconds))
    for call in sorted({series.rpartition(', ')[0] for series in samples.series}):
        ratio_note(samples, call)
    return samples


@contextlib.contextmanager
def project(bench):
    """A directory with a package that npm can install without a network, and two Python programs."""
    top = bench.scratch / 'project'
    shutil.rmtree(top, ignore_errors=True)
    for number in range(20):
        directory = top / f'dependency-{number}'
        directory.mkdir(parents=True)
        (directory / 'package.json').write_text(PACKAGE.replace('dependency', directory.name), encoding='ascii')
        (directory / 'index.js').write_text('module.exports = 1;\n' * 200, encoding='ascii')
    names = ', '.join(f'"dependency-{n}": "file:./dependency-{n}"' for n in range(20))
    (top / 'package.json').write_text(f'{{"name": "project", "dependencies": {{{names}}}}}', encoding='ascii')
    (top / 'tests.py').write_text(PYTHON_TESTS, encoding='ascii')
    (top / 'sqlite.py').write_text(SQLITE, encoding='ascii')
    yield top
    shutil.rmtree(top, ignore_errors=True)


def workloads(bench):
    samples = frame.Samples()
    npm = [bench.peer('npm', 'npm'), 'install', '--offline', '--install-links', '--no-audit', '--no-fund', '--silent']
    python = str(pathlib.Path(sys.executable).resolve())
    with project(bench) as top:

        def run(command):
            for left in ('node_modules', 'package-lock.json', 'x.db'):
                shutil.rmtree(top / left, ignore_errors=True)
                (top / left).unlink(missing_ok=True)

            def once():
                done = subprocess.run([*bench.urgent, *command], cwd=top, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    raise frame.Failed(f'{command}: {done.stdout[-300:]}{done.stderr[-300:]}')

            return frame.elapsed_ms(once)

        racers = {}
        for name, command in {
            'npm install': npm,
            'Python tests': [python, 'tests.py'],
            'sqlite': [python, 'sqlite.py'],
        }.items():
            racers[f'{name}, outside'] = lambda c=command: run(c)
            racers[f'{name}, inside'] = lambda c=command: run([*confined(bench), *c])
        bench.race(samples, racers, bench.rounds(15), warm_up=1)
        for name in ('npm install', 'Python tests', 'sqlite'):
            ratio_note(samples, name)
    return samples


MEASUREMENTS = (
    frame.Measurement('system calls', 'single calls, bare and confined', 'ns', calls),
    frame.Measurement('workloads', 'from start to end, bare and confined', 'ms', workloads),
)
