# SPDX-License-Identifier: LGPL-2.1-or-later
"""The bytes between client and server: what the kernel passes on, and none of our processes touches."""

import os
import pathlib

from checks import WAYS, talks, traced
from harness import case, expect, expect_equal

# One byte, a line, what fills a pipe, and what has to go through it many times.
SIZES = (1, 1000, 65536, 1 << 20)


def main_process(server):
    """The server's: the processes with its mark that are no clients of ours."""
    (pid,) = [p for p in server.processes() if 'server.py' in pathlib.Path(f'/proc/{p}/cmdline').read_text('utf-8')]
    return pid


def streams_of(pid):
    """stdin and stdout as strace -y shows them: pipe:[12345], socket:[12345]."""
    return {os.readlink(f'/proc/{pid}/fd/{fd}') for fd in (0, 1)}


def without_calls(lines, pid, *names):
    """What a process was seen calling but for these."""
    mine = [line.removeprefix(f'{pid}').lstrip() for line in lines if line.startswith(f'{pid} ')]
    return [call for call in mine if not call.startswith((*(f'{name}(' for name in names), '<... ', '---'))]


@case
def none_of_our_processes_touches_the_bytes(world):
    for way in WAYS:
        server = world.fixture('honest', sessions={'max': 2})
        # Without --quiet mcp-connect asks, for the first two seconds, how much lies unread.
        client = talks(server.connect('--quiet') if way == 'connect' else server.dial())
        child = main_process(server)
        streams = streams_of(child)
        with traced([server.supervisor, child, *([client.process.pid] if way == 'connect' else [])]) as end:
            for size in SIZES:
                text = 'x' * size
                expect_equal(client.call('echo', text=text, timeout=20.0), (text, False), f'echo over {way}')
            # The supervisor is awake meanwhile, and is seen at it.
            talks(server.open(way))
            lines = end()
        expect(any('accept4(' in line for line in lines), 'strace saw nothing of the supervisor')
        touching = [line for line in lines if any(stream in line for stream in streams)]
        expect(any(line.startswith(f'{child} ') for line in touching), 'strace saw nothing of the server')
        theirs = [line for line in touching if not line.startswith(f'{child} ')]
        expect_equal(theirs, [], f'system calls on the stream over {way}')
        if way == 'connect':
            others = without_calls(lines, client.process.pid, 'poll', 'restart_syscall')
            expect_equal(others, [], 'system calls of mcp-connect besides waiting')
