# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a person sees while a server starts, above all the first time by npx or uvx."""

import os
import socket
import time

from checks import talks
from client import ProcessClient
from harness import case, expect, expect_equal
from world import FIXTURES, MEMBER, acting_as

ASK = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'


def slow(world, seconds, budget):
    """A server behind a program that is called npx and needs some seconds before it reads anything."""
    runner = world.directory('starting', 0o755) / 'npx'
    world.write(runner, f'#!/bin/sh\nexec /usr/bin/python3 -ISB {FIXTURES}/server.py slow "$@"\n', 0o755)
    return world.define({'command': str(runner), 'args': [str(seconds)], 'init_timeout': budget})


@case(timeout=60)
def a_slow_start_is_told_on_stderr_and_the_stream_is_untouched(world):
    server = slow(world, 6, '4s')
    client = talks(server.connect())
    expect_equal(client.buffer, b'', 'more on stdout than the answers')
    client.close()
    said = client.stderr_text()
    expect(f'{server.name}: still starting (npx may be downloading; 2 s of a budget of 4 s)' in said, f'it says: {said}')
    expect('within 4 s' in said and 'init_timeout' in said and '[MCP-E-SLOW-START]' in said, f'it says: {said}')
    expect_equal(len(said.splitlines()), 2, f'{said}: lines')


@case(timeout=60)
def whoever_wants_quiet_or_asks_nothing_is_told_nothing(world):
    server = slow(world, 4, '30s')
    quiet, idle = server.connect('--quiet'), server.connect()
    quiet.send_bytes(ASK)
    time.sleep(5)
    for client in (quiet, idle):
        client.close()
        expect_equal(client.stderr_text(), '', 'stderr')


@case(timeout=60)
def a_quick_start_is_not_told_of(world):
    client = talks(world.fixture('honest').connect())
    time.sleep(3)
    client.close()
    expect_equal(client.stderr_text(), '', 'stderr')


@case(timeout=60)
def clients_that_hand_over_sockets_are_told_as_well(world):
    """Node's child_process makes socket pairs, not pipes."""
    server = slow(world, 4, '30s')
    with acting_as(MEMBER):
        (ours_in, stdin), (ours_out, stdout), (ours_err, stderr) = socket.socketpair(), socket.socketpair(), os.pipe()
    process = world.popen(['mcp-connect', world.flag, server.name], user=MEMBER, stdin=stdin, stdout=stdout, stderr=stderr)
    stdin.close()
    stdout.close()
    os.close(stderr)
    client = ProcessClient(process, ours_in.detach(), ours_out.detach(), ours_err)
    world.clients.append(client)
    talks(client)
    client.close()
    said = client.stderr_text()
    expect('still starting (npx may be downloading; 2 s of a budget of 30 s)' in said, f'it says: {said}')
    expect_equal(len(said.splitlines()), 1, f'{said}: lines')


@case(timeout=60)
def mcpctl_tells_it_too_and_says_what_to_do_in_the_end(world):
    server = slow(world, 4, '30s')
    done = world.run(['mcpctl', world.flag, 'tools', server.name], timeout=30)
    expect_equal(done.returncode, 0, f'{done.stderr}: exit status')
    expect('still starting (npx may be downloading; 2 s of a budget of 30 s)' in done.stderr, f'it says: {done.stderr}')
    expect('starting' not in done.stdout, f'stdout: {done.stdout}')
    done = world.run(['mcpctl', world.flag, '--quiet', 'tools', server.name], timeout=30)
    expect_equal((done.returncode, done.stderr), (0, ''), 'quiet')
    done = world.run(['mcpctl', world.flag, '--timeout=3s', 'call', server.name, 'echo', '{"text":"x"}'], timeout=30)
    said = ' '.join(done.stderr.split())
    expect_equal(done.returncode, 1, f'{said}: exit status')
    for words in ('MCP-E-SLOW-START', 'npx downloads it', 'init_timeout', str(server.file), '--timeout'):
        expect(words in said, f'{words} is not in: {said}')
