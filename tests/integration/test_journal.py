# SPDX-License-Identifier: LGPL-2.1-or-later
"""What operators read: events with MESSAGE_IDs, fields and catalog texts."""

import re

from checks import QUICK_STOP, nothing_left, talks
from harness import case, eventually, expect, expect_equal


def events(world, server):
    return [r for r in world.journal(f'MCP_SERVER={server.name}') if 'MESSAGE_ID' in r]


def session_events(world, server):
    """Once there are two kinds of them."""
    found = [r for r in events(world, server) if 'MCP_SESSION' in r]
    return found if len({r['MESSAGE_ID'] for r in found}) >= 2 else []


@case
def a_sessions_start_and_end_are_events_with_fields(world):
    server = world.fixture('honest')
    client = talks(server.connect())
    pid = client.process.pid
    client.close()
    nothing_left(server)
    found = eventually(lambda: session_events(world, server), 'a start and an end in the journal')
    expect_equal(len({r['MCP_SESSION'] for r in found}), 1, 'sessions in the records')
    start = found[0]
    expect(start.get('MCP_PID', '').isdigit(), f'MCP_PID is {start.get("MCP_PID")}')
    expect_equal(start.get('MCP_CLIENT_PID'), str(pid), 'MCP_CLIENT_PID')
    expect(
        re.fullmatch(rf'mcp-{server.name}-[0-9a-f]{{16}}\.scope', start.get('MCP_SCOPE', '')),
        f'MCP_SCOPE is {start.get("MCP_SCOPE")}',
    )
    expect_equal(start.get('MCP_ISOLATION_MODE'), 'sandbox', 'MCP_ISOLATION_MODE')
    expect_equal(start.get('MCP_CLIENT_UID'), '6101', 'MCP_CLIENT_UID')


@case
def every_event_has_a_catalog_text(world):
    server = world.fixture('ignore_both', stop=QUICK_STOP)
    talks(server.connect()).close()
    nothing_left(server)
    ids = {r['MESSAGE_ID'] for r in eventually(lambda: events(world, server), 'an event')}
    for message_id in ids:
        done = world.run(['journalctl', '--dump-catalog', message_id], user='root')
        expect(done.returncode == 0 and 'Subject:' in done.stdout, f'no catalog text for {message_id}')


@case
def a_kill_that_was_needed_is_an_event(world):
    server = world.fixture('ignore_both', stop=QUICK_STOP)
    talks(server.connect()).close()
    nothing_left(server)
    eventually(
        lambda: any(
            'SIGKILL' in r['MESSAGE'] or 'killed' in r['MESSAGE'].lower() for r in events(world, server)
        ),
        lambda: f'an event that says so, among {[r["MESSAGE"] for r in events(world, server)]}',
    )


@case
def the_unit_journal_shows_supervisor_and_server(world):
    server = world.fixture('exit', '1', 'its last words')
    server.connect().wait()
    # --user-unit= means the units of whoever asks, and only root can read everything here.
    match = f'_SYSTEMD_USER_UNIT={server.unit}' if world.kind == 'user' else f'--unit={server.unit}'

    def shown():
        return world.run(['journalctl', '-b', '-q', '--no-pager', match], user='root').stdout

    eventually(lambda: 'its last words' in shown(), lambda: f'the last words under the unit:\n{shown()}')


@case
def a_run_time_that_is_over_is_told_by_its_name(world):
    server = world.fixture('ignore_both', stop=QUICK_STOP, limits={'runtime': '1s'})
    client = talks(server.connect())
    expect(client.wait() != 0, 'mcp-connect says that all is well')
    told = client.stderr_text()
    expect('limits.runtime' in told and '1s' in told, f'the client was told: {told!r}')
    nothing_left(server)
    eventually(
        lambda: any(r.get('MCP_CODE') == 'MCP-E-RUNTIME' for r in events(world, server)),
        'the limit in the journal',
    )
