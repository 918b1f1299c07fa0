# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long a client waits for its server: from connect() to the first instruction of the server's program."""

import contextlib

import frame
import world

WHERE = 'container'

AT_ONCE = 50
LIMITS = ('TasksMax=512', 'LimitNOFILE=4096', 'LimitCORE=0')  # as a definition has them that says nothing
TIMEOUT = 600


@contextlib.contextmanager
def a_server(manager, command):
    where = world.World(manager)
    try:
        yield where, where.define({'command': command, 'sessions': {'max': 2 * AT_ONCE}})
    finally:
        where.close()


def ways_to_start(where, server, program):
    """As session-race wants them.  The peers have the same limits, and none of our confinement.

    A spare child is the least that any design could take in which a child waits in its scope for the next client: it is
    neither confined, nor is anybody looked at.
    """
    properties = [word for limit in LIMITS for word in ('--property', limit)]
    return {
        'bare scope': ['scope', where.kind, program],
        'spare child': ['spare', where.kind, program],
        'NAME.sock': ['raw', server.stream],
        'NAME.connect': ['connect', server.control],
        'mcp-connect': ['spawn', 'mcp-connect', where.flag, server.name],
        'systemd-run': ['spawn', 'systemd-run', where.flag, '--pipe', '--quiet', '--collect', *properties, program],
    }


def race(where, bench, ways, rounds, at_once):
    """Milliseconds of every start by way; value number i of each was read in the same round."""
    world.prepare()
    argv = [bench.helper('session-race'), rounds, 1 if at_once > 1 else 3, at_once]
    for way in ways.values():
        argv += ['++', *way]
    done = where.run(map(str, argv), timeout=TIMEOUT)
    if done.returncode != 0:
        raise frame.Failed(done.stderr.strip())
    samples = frame.Samples()
    names = list(ways)
    for line in done.stdout.splitlines():
        number, nanoseconds = line.split()
        samples.add(names[int(number)], int(nanoseconds) / 1e6)
    return samples


def start(manager, rounds, at_once):
    def function(bench):
        world.prepare()
        program = bench.helper('first-instruction')
        with a_server(manager, program) as (where, server):
            return race(where, bench, ways_to_start(where, server, program), bench.rounds(rounds), at_once)

    return function


CHECKS = (
    *(
        frame.ratio(ours, 'bare scope', 1.3, share=share)
        for share in (0.5, 0.95, 0.99)
        for ours in ('NAME.sock', 'NAME.connect')
    ),
    frame.ratio('NAME.sock', 'systemd-run', 0.5),
    frame.ratio('mcp-connect', 'systemd-run', 0.5),
)

MEASUREMENTS = tuple(
    frame.Measurement(
        f'start, {how}, {manager} manager',
        "from a client's connect() to the first instruction of its server, beside a loop that only makes a scope",
        'ms',
        start(manager, rounds, at_once),
        CHECKS,
    )
    for manager in world.KINDS
    for how, rounds, at_once in (('one after the other', 100, 1), (f'{AT_ONCE} at once', 5, AT_ONCE))
)
