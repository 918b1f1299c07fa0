# SPDX-License-Identifier: LGPL-2.1-or-later
"""mcp-sandbox beside what else confines a command."""

import frame

WHERE = 'machine'
TRUE = '/bin/true'


def commands_here(bench, samples):
    """Each confines /bin/true as nearly as it can to our default: everything can be read, little can be written."""
    ours = bench.program('src/sandbox-exec', 'mcp-sandbox')
    commands = {'fork+exec': [TRUE], 'mcp-sandbox': [ours, '--', TRUE]}
    peers = {
        'bwrap': ('bubblewrap', ['--ro-bind', '/', '/', '--bind', '/tmp', '/tmp', '--dev', '/dev', '--die-with-parent']),
        'firejail': ('firejail', ['--quiet', '--noprofile', '--read-only=/', '--read-write=/tmp', '--']),
    }
    for name, (package, options) in peers.items():
        try:
            commands[name] = [bench.peer(name, package), *options, TRUE]
        except frame.Skip as e:
            samples.skip(name, str(e))
    return commands


def start(bench):
    samples = frame.Samples()
    return bench.spawn(samples, commands_here(bench, samples), bench.rounds(200))


MEASUREMENTS = (
    frame.Measurement(
        'start',
        'from fork to the end of /bin/true, bare and confined',
        'ms',
        start,
        (
            frame.above('mcp-sandbox', 'fork+exec', 1.0, 'ms'),
            frame.ratio('mcp-sandbox', 'bwrap', 1.0),
            frame.ratio('mcp-sandbox', 'firejail', 1.0),
        ),
    ),
)
