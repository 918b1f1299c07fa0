# SPDX-License-Identifier: LGPL-2.1-or-later
"""What our processes hold in memory, from /proc/PID/smaps_rollup, and how that and time grow with the sessions.

Pss counts a page that n processes share as a page divided by n; so the measure is of one server, alone on its machine.
"""

import contextlib
import pathlib
import re
import resource
import time

import checks
import frame
import harness
import world
from client import Closed

WHERE = 'container'
DEMO = {'command': '/usr/libexec/mcp-demo-server', 'sessions': {'max': 1000}, 'stop': {'eof_grace': '5s'}}
STEPS = (1, 50, 100, 250, 500)
FEW_STEPS = (1, 20, 50)
SETTLED_TIMEOUT = 300


def pss_kb(pid):
    text = pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text(encoding='ascii')
    return int(re.search(r'^Pss:\s+(\d+) kB', text, re.MULTILINE)[1])


def private_dirty_kb(pid):
    text = pathlib.Path(f'/proc/{pid}/smaps_rollup').read_text(encoding='ascii')
    return int(re.search(r'^Private_Dirty:\s+(\d+) kB', text, re.MULTILINE)[1])


@contextlib.contextmanager
def served(kind):
    """A server of a manager of this kind, defined and listening; and nothing of it afterwards."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    where = world.World(kind)
    try:
        yield where.define(dict(DEMO))
    finally:
        where.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def one_session(kind):
    def measure(bench):
        samples = frame.Samples()
        with served(kind) as server:
            for _ in range(bench.rounds(5)):
                client = server.connect()
                client.initialize()
                samples.add('supervisor', pss_kb(server.supervisor))
                samples.add('mcp-connect', pss_kb(client.process.pid))
                samples.add('supervisor, private', private_dirty_kb(server.supervisor))
                samples.add('mcp-connect, private', private_dirty_kb(client.process.pid))
                client.close()
                checks.nothing_left(server)
        return samples

    return measure


def unused(_bench):
    """A server that listens and was never asked for."""
    samples = frame.Samples()
    with served('system') as server:
        time.sleep(1)
        state = server.world.property(server.socket_unit, 'ActiveState')
        if state != 'active':
            raise frame.Failed(f'{server.socket_unit} is {state}')
        samples.add('processes', len(server.processes()) + (server.supervisor != 0))
    return samples


class Growth:
    """Opens sessions one after the other, and keeps them."""

    def __init__(self, server, samples):
        self.server, self.samples = server, samples
        self.clients = []

    def open_until(self, number):
        while len(self.clients) < number:
            client = self.server.connect()
            began = time.perf_counter_ns()
            try:
                client.initialize()
            except (Closed, OSError) as e:
                status = client.wait()
                reason = client.stderr_text().strip()
                raise frame.Failed(f'session {len(self.clients) + 1} ended with {status}: {reason or e}') from e
            self.samples.add(self.name_of(len(self.clients)), (time.perf_counter_ns() - began) / 1e6)
            self.clients.append(client)

    @staticmethod
    def name_of(opened):
        below = next(step for step in STEPS if opened < step)
        return f'session {below}' if below == 1 else f'sessions up to {below}'

    def close_all(self):
        """All clients go at once; how long until nothing of any session is left, in seconds."""
        began = time.perf_counter()
        for client in self.clients:
            client.close_input()
        for client in self.clients:
            client.wait(SETTLED_TIMEOUT)
        harness.eventually(lambda: not self.server.scopes(), 'no scope left', SETTLED_TIMEOUT, every=0.2)
        took = time.perf_counter() - began
        checks.nothing_left(self.server, SETTLED_TIMEOUT)
        return took


def steps(bench):
    return FEW_STEPS if bench.quick else STEPS


def memory_growth(bench):
    samples, times = frame.Samples(), frame.Samples()
    with served('system') as server:
        growth = Growth(server, times)
        before = None
        for step in steps(bench):
            growth.open_until(step)
            pss = pss_kb(server.supervisor)
            samples.note(f'{step} sessions: the supervisor has {pss} kB Pss')
            if before:
                samples.add('for each further session', (pss - before[1]) / (step - before[0]))
            before = before or (step, pss)
        if len(server.scopes()) != step:
            raise frame.Failed(f'{len(server.scopes())} scopes instead of {step}')
        took = growth.close_all()
        samples.note(f'{step} sessions at once, each with its handshake; all of them gone {took:.1f} s after their clients')
        samples.add('afterwards, for each that there was', max(0.0, (pss_kb(server.supervisor) - before[1]) / step))
    for name, values in times.series.items():
        samples.note(f'{name}: {frame.describe(values)["median"]:.1f} ms from mcp-connect to the handshake')
    return samples


MEASUREMENTS = (
    *(
        frame.Measurement(
            f'one session, {kind} manager',
            'memory of the two processes that are there because of us',
            'kB Pss',
            one_session(kind),
            (frame.absolute('supervisor', 2048, 'kB'), frame.absolute('mcp-connect', 300, 'kB')),
        )
        for kind in world.KINDS
    ),
    frame.Measurement(
        'unused',
        'processes of a server that nobody uses',
        'processes',
        unused,
        (frame.absolute('processes', 0, '', 'a server that nobody uses has no process'),),
    ),
    frame.Measurement(
        'many sessions',
        'how the memory of the supervisor grows with the sessions of its server',
        'kB Pss',
        memory_growth,
        (frame.absolute('for each further session', 20, 'kB'),),
    ),
)
