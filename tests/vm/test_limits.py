# SPDX-License-Identifier: LGPL-2.1-or-later
"""Limits that end a session: what holds, and what client, journal and status say."""

import pathlib
import re
import time

from checks import QUICK_STOP, nothing_left, talks
from harness import case, eventually, expect, expect_equal

LIMIT_REACHED = 'f595e155274d4899a1145402a677edaa'
MIB = 1 << 20


def told_everywhere(world, server, client, words):
    """The record of the limit, once client, journal and status have all said the words."""
    said = client.stderr_text()
    expect(words in said, f'the client is told {said!r}')
    records = eventually(
        lambda: world.journal(f'MCP_SERVER={server.name}', f'MESSAGE_ID={LIMIT_REACHED}'), 'a record of the limit'
    )
    expect_equal(len(records), 1, 'records of one limit')
    expect(words in records[0]['MESSAGE'], f'the journal says {records[0]["MESSAGE"]!r}')
    # The status is that of a server without sessions, so the scope has to be gone first.
    eventually(lambda: words in world.property(server.unit, 'StatusText'), 'the words in the status', every=0.2)
    shown = world.systemctl('status', server.unit, check=False).stdout
    expect(words in shown.partition('\n\n')[0], f'systemctl status says {shown}')
    shown = world.run(['mcpctl', world.flag, 'status', server.name]).stdout
    expect(words in ' '.join(shown.split()), f'mcpctl status says {shown}')
    return records[0]


def memory_is_told(world, server, client):
    expect(client.wait(30) != 0, 'mcp-connect says that all is well')
    record = told_everywhere(world, server, client, 'out of memory (limit 64M')
    expect_equal(record.get('MCP_LIMIT'), str(64 * MIB), 'MCP_LIMIT')
    expect(32 * MIB <= int(record.get('MCP_PEAK', 0)) <= 64 * MIB, f'MCP_PEAK is {record.get("MCP_PEAK")}')
    expect(re.search(r'peak [0-9.]+M', record['MESSAGE']), f'the peak is not in {record["MESSAGE"]!r}')
    nothing_left(server)


@case(timeout=60)
def a_memory_hog_dies_and_the_limit_is_named(world):
    server = world.fixture('hog', limits={'memory': '64M', 'swap': '0'})
    memory_is_told(world, server, talks(server.connect()))


@case(timeout=60)
def a_hog_behind_a_wrapper_takes_all_of_the_server_with_it(world):
    server = world.fixture('hog', 'behind', limits={'memory': '64M', 'swap': '0'})
    memory_is_told(world, server, talks(server.connect()))


@case(timeout=60)
def a_hog_on_the_raw_socket_is_in_journal_and_status(world):
    server = world.fixture('hog', limits={'memory': '64M', 'swap': '0'})
    client = talks(server.dial())
    client.read_rest(60)
    records = eventually(
        lambda: world.journal(f'MCP_SERVER={server.name}', f'MESSAGE_ID={LIMIT_REACHED}'), 'a record of the limit'
    )
    expect('out of memory (limit 64M' in records[0]['MESSAGE'], f'the journal says {records[0]["MESSAGE"]!r}')
    nothing_left(server)


@case(timeout=60)
def a_fork_bomb_stays_inside_and_the_limit_is_named(world):
    server, other = world.fixture('fork_bomb', limits={'tasks': 20}), world.fixture('honest')
    beside = talks(other.connect())
    client = talks(server.connect())
    (scope,) = server.cgroups()
    peak = 0

    def ended():
        nonlocal peak
        try:
            peak = max(peak, int(pathlib.Path(scope, 'pids.current').read_text(encoding='ascii')))
        except OSError:
            pass
        return client.process.poll() is not None

    eventually(ended, 'the end of the bomb', 30, every=0.05)
    expect(2 < peak <= 20, f'{peak} tasks were seen')
    expect(client.wait() != 0, 'mcp-connect says that all is well')
    told_everywhere(world, server, client, 'too many tasks (limit 20')
    nothing_left(server)
    expect_equal(beside.call('echo', text='unaffected'), ('unaffected', False), 'the other server')
    expect_equal(world.property(server.unit, 'ActiveState'), 'active', 'the supervisor')
    talks(other.connect(), 'a new client of the other server')


@case(timeout=60)
def a_limit_on_the_running_time_is_named(world):
    server = world.fixture('honest', limits={'runtime': '3s'})
    client = talks(server.connect())
    client.wait(30)
    told_everywhere(world, server, client, 'ran longer than 3s')
    nothing_left(server)


@case(timeout=60)
def a_server_that_lives_with_its_limit_ends_without_a_word_of_it(world):
    server = world.fixture('honest', limits={'memory': '64M', 'tasks': 20, 'cpu': '50%'})
    client = talks(server.connect())
    expect_equal(client.close(), 0, 'exit status')
    nothing_left(server)
    records = world.journal(f'MCP_SERVER={server.name}', f'MESSAGE_ID={LIMIT_REACHED}')
    expect(not records, f'the journal has {records}')


@case(timeout=60)
def a_server_gets_no_more_of_the_processor_than_its_quota(world):
    server = world.fixture('spin', limits={'cpu': '20%'}, stop=QUICK_STOP)
    client = talks(server.connect())
    (scope,) = server.cgroups()

    def used():
        text = pathlib.Path(scope, 'cpu.stat').read_text(encoding='ascii')
        return {key: int(value) for key, value in map(str.split, text.splitlines())}

    before, began = used(), time.monotonic()
    time.sleep(2)
    after, seconds = used(), time.monotonic() - began
    share = (after['usage_usec'] - before['usage_usec']) / 1e6 / seconds
    expect(0.1 < share < 0.3, f'it had {share:.0%} of a processor')
    expect(after['nr_throttled'] > before['nr_throttled'], 'it was never held back')
    client.close()
    nothing_left(server)


@case
def what_the_cgroup_says_is_what_was_asked_for(world):
    limits = {'memory': '96M', 'swap': '32M', 'tasks': 33, 'cpu': '40%'}
    server = world.fixture('honest', limits=limits)
    client = talks(server.connect())
    (scope,) = server.cgroups()
    # No swap device is there; the limit is in place all the same.
    for name, wanted in (
        ('memory.max', 96 * MIB), ('memory.swap.max', 32 * MIB), ('pids.max', 33), ('cpu.max', '40000 100000')
    ):  # fmt: skip
        expect_equal(pathlib.Path(scope, name).read_text(encoding='ascii').strip(), str(wanted), name)
    client.close()


@case
def a_manifests_resources_are_limits(world):
    """nono's resources: all of the memory, swap included, and no more processes."""
    resources = {'memory_bytes': 96 * MIB, 'max_processes': 21}
    manifest = {'version': '0.1.0', 'process': {'exec_strategy': 'supervised'}, 'resources': resources}
    server = world.fixture('honest', isolation={'manifest': manifest, 'enforcement': 'best-effort'})
    client = talks(server.connect())
    (scope,) = server.cgroups()
    for name, wanted in (('memory.max', 96 * MIB), ('memory.swap.max', 0), ('pids.max', 21)):
        expect_equal(pathlib.Path(scope, name).read_text(encoding='ascii').strip(), str(wanted), name)
    client.close()
