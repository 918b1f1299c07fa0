# SPDX-License-Identifier: LGPL-2.1-or-later
"""What bytes cost on their way between client and server, which nobody but the kernel passes on."""

import frame
from bench_session import a_server

WHERE = 'container'

KIB, MIB = 1 << 10, 1 << 20
TIMEOUT = 600
# Where the pages of a process happen to be makes a difference of some per cent for as long as it runs.
STARTS = 10


def stream(size, count, answer, rounds):
    def function(bench):
        program = bench.helper('stream-server')
        samples = frame.Samples()
        with a_server('user', program) as (where, server):
            # The peers' servers have a session and a scope of their own as well: it makes a difference to the scheduler.
            alone = ['setsid', 'systemd-run', where.flag, '--scope', '--quiet', '--collect', '--slice=mcp.slice', '--']
            bare, confined = [*alone, program], [*alone, 'mcp-sandbox', '--', program]
            # Like with like: a connection beside a pair of sockets, and a client's pipes beside pipes.
            for ways in (
                {
                    'socketpair': ['socketpair', *bare],
                    'socketpair, confined': ['socketpair', *confined],
                    'NAME.sock': ['raw', server.stream],
                },
                {
                    'pipe': ['pipe', *bare],
                    'pipe, confined': ['pipe', *confined],
                    'mcp-connect': ['pipe', 'mcp-connect', where.flag, server.name],
                },
            ):
                argv = [bench.helper('stream-race'), bench.rounds(rounds) // STARTS or 1, 2, size, count, answer]
                for way in ways.values():
                    argv += ['++', *way]
                for _ in range(STARTS):
                    done = where.run(map(str, argv), timeout=TIMEOUT)
                    if done.returncode != 0:
                        raise frame.Failed(done.stderr.strip())
                    for line in done.stdout.splitlines():
                        for name, nanoseconds in zip(ways, line.split()):
                            samples.add(name, int(nanoseconds) / 1e3)
        return samples

    return function


def text_of(size):
    return f'{size // MIB} MiB' if size >= MIB else f'{size // KIB} KiB' if size >= KIB else f'{size} B'


BARE = (frame.paired('NAME.sock', 'socketpair', 1.02), frame.paired('mcp-connect', 'pipe', 1.02))
# What a system call costs in a sandbox is measured elsewhere; where a message is little else, this is the comparison.
CONFINED = (frame.paired('NAME.sock', 'socketpair, confined', 1.02), frame.paired('mcp-connect', 'pipe, confined', 1.02))

ROUND_TRIPS = tuple(
    frame.Measurement(
        f'round trip, {text_of(size)}',
        'a message to the server and as much back',
        'µs',
        stream(size, 1, size, rounds),
        BARE,
    )
    for size, rounds in ((1, 300), (KIB, 300), (64 * KIB, 300), (MIB, 200), (64 * MIB, 20))
)

THROUGHPUT = tuple(
    frame.Measurement(
        f'{count} messages of {text_of(size)}',
        'written one by one, and a byte back when all were read',
        'µs',
        stream(size, count, 1, rounds),
        CONFINED if size == 1 else BARE,
    )
    for size, count, rounds in (
        (1, 512, 300),
        (4 * KIB, 256, 300),
        (64 * KIB, 16, 300),
        (MIB, 2, 200),
        (64 * MIB, 1, 20),
    )
)

MEASUREMENTS = (*ROUND_TRIPS, *THROUGHPUT)
