#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What people type on their first day, and write into their files: each mistake gets sentences that name the thing and say what to
do, a code that mcp-messages(7) explains, and the exit status of its kind. Never a crash, never silence.

  test-mistakes.py MCPCTL SOURCE-DIR
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tree'))
from cases import case, run  # pylint: disable=wrong-import-position

MCPCTL, SOURCE = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
TEMPORARY = tempfile.TemporaryDirectory(prefix='mcpctl-mistakes-')
ROOT = pathlib.Path(TEMPORARY.name)
KEPT = ('PATH', 'LD_LIBRARY_PATH', 'ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS')
CODES = set(re.findall(r'^\.It Li (MCP-\S+)$', (SOURCE / 'src/report/mcp-messages.7').read_text(), re.MULTILINE))

DEFINITIONS = {
    'files': '{"command": "/bin/cat"}',
    'off': '{"command": "/bin/cat", "enabled": false}',
    'held': '{"command": "/bin/cat", "quarantined": true}',
    'broken': '{"command": npx}',
    'masked': '',
    'remote': '{"url": "https://example.org/mcp"}',
}
HOME = ROOT / 'home'
SERVERS = HOME / '.config/mcp/servers.d'


def ctl(*args, stdin='', env=None):
    environment = {'HOME': str(HOME), 'LC_ALL': 'C', 'XDG_RUNTIME_DIR': str(ROOT / 'run'),
                   'DBUS_SESSION_BUS_ADDRESS': f'unix:path={ROOT}/no-bus', 'DBUS_SYSTEM_BUS_ADDRESS': f'unix:path={ROOT}/no-bus',
                   **{k: os.environ[k] for k in KEPT if k in os.environ}, **(env or {})}
    return subprocess.run([MCPCTL, *args], env=environment, input=stdin, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT)


# Arguments (of a user with the servers above), the exit status, the code, and what has to be said besides.
COMMANDS = (
    # verbs
    ('lst', 2, 'X-USAGE', ['"lst"', '"mcpctl list"']),
    ('stauts', 2, 'X-USAGE', ['"mcpctl status"']),
    ('ls', 2, 'X-USAGE', ['"mcpctl list"']),
    ('ps', 2, 'X-USAGE', ['"mcpctl status"']),
    ('rm files', 2, 'X-USAGE', ['"mcpctl remove"']),
    ('delete files', 2, 'X-USAGE', ['"mcpctl remove"']),
    ('install x', 2, 'X-USAGE', ['"mcpctl add"']),
    ('log files', 2, 'X-USAGE', ['"mcpctl logs"']),
    ('test files', 2, 'X-USAGE', ['"mcpctl probe"']),
    ('inspect files', 2, 'X-USAGE', ['"mcpctl show"']),
    ('validate files', 2, 'X-USAGE', ['"mcpctl check"']),
    ('help', 2, 'X-USAGE', ['--help']),
    ('frobnicate', 2, 'X-USAGE', ['"frobnicate"', '--help']),
    ('files show', 2, 'X-USAGE', ['mcpctl show files']),
    ('files start', 2, 'X-USAGE', ['mcpctl start files']),
    # too few and too many
    ('show', 2, 'X-USAGE', ['mcpctl show NAME', 'mcpctl list']),
    ('show files off', 2, 'X-USAGE', ['too much', 'mcpctl show NAME']),
    ('list files', 2, 'X-USAGE', ['too much']),
    ('doctor files', 2, 'X-USAGE', ['too much']),
    ('enable', 2, 'X-USAGE', ['mcpctl enable NAME']),
    ('call files', 2, 'X-USAGE', ['mcpctl call NAME TOOL']),
    ('connect', 2, 'X-USAGE', ['mcpctl connect NAME']),
    ('run', 2, 'X-USAGE', ['mcpctl run -- COMMAND', '"--"']),
    # names
    ('show file', 4, 'X-NO-SUCH-SERVER', ['"file"', 'Did you mean "files"?']),
    ('show FILES', 4, 'X-NO-SUCH-SERVER', ['Did you mean "files"?']),
    ('show files.service', 4, 'X-NO-SUCH-SERVER', ['Did you mean "files"?']),
    ('show files.json', 4, 'X-NO-SUCH-SERVER', ['Did you mean "files"?']),
    ('show ./files.json', 4, 'X-NO-SUCH-SERVER', ['Did you mean "files"?']),
    ('show /etc/x.json', 4, 'X-NO-SUCH-SERVER', ['mcpctl check']),
    ('show mcp-server@file.service', 4, 'X-NO-SUCH-SERVER', ['Did you mean "files"?']),
    ('remove nothing-like-it', 4, 'X-NO-SUCH-SERVER', ['mcpctl list']),
    ('edit nothing-like-it', 4, 'X-NO-SUCH-SERVER', ['mcpctl list']),
    ('check files.jsn', 4, 'X-NO-SUCH-SERVER', ['files.jsn']),
    ('check nowhere.json', 2, 'C-READ', ['nowhere.json', 'No such file']),
    ('check /', 2, 'C-READ', ['Is a directory']),
    # states
    ('show masked', 2, 'X-MASKED', ['masked.json', 'Remove that file']),
    ('enable masked', 2, 'X-MASKED', ['masked.json']),
    ('show broken', 2, 'X-UNREADABLE', ['broken.json', 'mcpctl check']),
    ('probe broken', 2, 'X-UNREADABLE', ['mcpctl check']),
    ('start files', 69, 'X-NO-MANAGER', ['user manager']),
    ('status', 69, 'X-NO-MANAGER', ['user manager']),
    ('probe files', 69, 'X-NOT-LISTENING', ['files', 'mcp-server@files.socket']),
    ('call off x', 69, 'X-NOT-LISTENING', ['disabled', '"enabled"', 'off.json']),
    ('call held x', 69, 'X-NOT-LISTENING', ['quarantined', 'held.json']),
    # options
    ('--jsn list', 2, 'X-USAGE', ['--jsn', '--json']),
    ('-x list', 2, 'X-USAGE', ['-x', '--help']),
    ('--json logs', 2, 'X-USAGE', ['--json', 'logs']),
    ('list --follow', 2, 'X-USAGE', ['--follow']),
    ('--timeout=x probe files', 2, 'X-USAGE', ['30s']),
    ('logs --lines=x', 2, 'X-USAGE', ['number']),
    ('-H', 2, 'X-USAGE', ['needs a value']),
    ('-H -oX=y list', 2, 'X-USAGE', ['no host']),
    ('--root', 2, 'X-USAGE', ['needs a value']),
    # add and run
    ('add', 2, 'X-USAGE', ['NAME -- COMMAND']),
    ('add x', 2, 'X-USAGE', ['NAME -- COMMAND']),
    ('add x npx -y foo', 2, 'X-USAGE', ['"--"']),
    ('add x -- npx', 2, 'X-NOT-SAVED', ['npx without arguments', '"args"']),
    ('add x -- nosuchprogram', 2, 'X-NOT-SAVED', ['nosuchprogram', 'PATH was searched', 'key env']),
    ('add x --write=nowhere -- cat', 2, 'X-NOT-SAVED', ['nowhere', 'does not exist']),
    ('add x --write=/etc/systemd/system -- cat', 3, 'X-NOT-SAVED', ['/etc/systemd']),
    ('add files -- cat', 1, 'X-EXISTS', ['files.json', '--force']),
    ('add x --env UNSET_HERE -- cat', 2, 'X-USAGE', ['UNSET_HERE', 'not set here']),
    ('add x --env 1A=b -- cat', 2, 'X-USAGE', ['NAME=VALUE']),
    ('add x --memory=1G -- cat', 2, 'X-USAGE', ['--memory']),
    ('add x --network=none -- cat', 2, 'X-USAGE', ['blocked']),
    ('add x --env-file=nowhere.env -- cat', 2, 'X-NOT-SAVED', ['nowhere.env']),
    ('run --env-file=nowhere.env -- cat', 2, 'X-FILE', ['nowhere.env']),
    # why
    ('why files --path', 2, 'X-USAGE', ['needs a value']),
    ('why files --path=/x --access=w', 2, 'X-USAGE', ['read, write or execute']),
    ('why files --connect=host', 2, 'X-USAGE', ['HOST:PORT']),
    ('why files --path=/a --socket=/b', 2, 'X-USAGE', ['one thing']),
    # calls
    ('call files echo {', 2, 'X-ARGUMENTS', ['line 1, column', '@FILE']),
    ('call files echo text=hi', 2, 'X-ARGUMENTS', ['JSON object', "'{"]),
    ('call files echo [1]', 2, 'X-ARGUMENTS', ['JSON object']),
    ('call files echo @nowhere.json', 2, 'X-FILE', ['nowhere.json']),
    ('call files echo -', 2, 'X-ARGUMENTS', ['line 1']),
    # import and export
    ('import', 2, 'X-USAGE', ['--from']),
    ('import --from', 2, 'X-USAGE', ['needs a value']),
    ('import --from=clade-code', 2, 'X-CLIENT', ['claude-code']),
    ('import nowhere.json', 2, 'X-FILE', ['nowhere.json', '--from']),
    ('import --from=zed', 1, 'X-NO-CLIENT-FILE', ['.config/zed/settings.json']),
    ('export', 2, 'X-CLIENT', ['--for', 'vscode']),
    ('export --for=emacs', 2, 'X-CLIENT', ['--for', 'vscode']),
    ('edit files', 1, 'X-EDITOR', ['$EDITOR']),
)

# What stands in NAME.json, the exit status of "check", the code, where, and what is said besides.
FILES = (
    ('{"command": npx}', 2, 'C-JSON', '1:13', ['double quotes']),
    ("{'command': 'npx'}", 2, 'C-JSON', '1:2', ['double quotes']),
    ('{"command": "/bin/cat",}', 2, 'C-JSON', '1:24', ['key']),
    ('// mine\n{"command": "/bin/cat"}', 2, 'C-JSON', '1:1', ['Comments are not allowed']),
    ('{"command": "/bin/cat"', 2, 'C-JSON', '1:1', ['not closed']),
    ('{"command": "/bin/cat", "command": "/bin/true"}', 2, 'C-JSON', '1:25', ['"command" is there twice']),
    ('["/bin/cat"]', 2, 'C-TYPE', '1:1', ['object']),
    ('{}', 2, 'C-NO-COMMAND', '1:1', ['Add "command"']),
    ('{"comand": "/bin/cat"}', 2, 'C-NO-COMMAND', '', ['command']),
    ('{"command": ["/bin/cat", "x"]}', 2, 'C-TYPE', '1:13', ['must be a string']),
    ('{"command": "/bin/cat", "args": "x"}', 2, 'C-TYPE', '1:33', ['an array']),
    ('{"command": "npx -y foo"}', 2, 'C-COMMAND-LINE', '1:13', ['every argument into "args"']),
    ('{"command": "npx"}', 2, 'C-NO-ARGS', '1:13', ['package']),
    ('{"command": "nosuchprogram", "args": ["x"]}', 2, 'P-COMMAND-NOT-FOUND', '1:13', ['PATH was searched', 'PATH in the key env']),
    ('{"command": "/etc/hostname"}', 2, 'P-COMMAND-NOT-EXECUTABLE', '1:13', ['chmod +x']),
    ('{"command": "/bin/cat", "cwd": "/nowhere"}', 2, 'P-WORKING-DIR', '1:32', ['/nowhere', 'does not exist']),
    ('{"command": "/bin/cat", "cwd": "/etc/hostname"}', 2, 'P-WORKING-DIR', '1:32', ['/etc/hostname', 'directory']),
    ('{"command": "/bin/cat", "cwd": "sub"}', 2, 'C-RELATIVE-PATH', '1:32', ['~/']),
    ('{"command": "/bin/cat", "env": {"A": 1, "B-C": "x"}}', 2, 'C-VARIABLE', '1:41', ['letters, digits']),
    ('{"command": "/bin/cat", "env": {"A": "${UNSET_FOR_SURE}"}}', 2, 'C-REFERENCE', '1:38', ['UNSET_FOR_SURE']),
    ('{"command": "/bin/cat", "isolation": {"wirte": []}}', 2, 'C-UNKNOWN-KEY', '1:39', ['"write"']),
    ('{"command": "/bin/cat", "isolation": {"mode": "docker"}}', 3, 'P-DOCKER', '1:47', ['"sandbox"']),
    ('{"command": "/bin/cat", "isolation": {"write": ["/nowhere"]}}', 2, 'P-GRANT-PATH', '1:49', ['does not exist']),
    ('{"command": "/bin/cat", "isolation": {"write": ["~/.ssh"]}}', 3, 'P-KEY-TO-THE-HOUSE', '1:49', ['.ssh', 'run programs']),
    ('{"command": "/bin/cat", "isolation": {"manifest": "nowhere.json"}}', 2, 'M-UNREADABLE', '1:51', ['nowhere.json']),
    ('{"command": "/bin/cat", "limits": {"memory": "1 gigabyte"}}', 2, 'C-VALUE', '1:46', ['memory']),
    ('{"mcpServers": {"x": {"command": "/bin/cat"}}}', 2, 'C-CLIENT-FILE', '', ['mcp.json', 'mcpctl import']),
    ('{"url": "https://x"}', 2, 'C-REMOTE', '', ['command']),
)


def fill():
    SERVERS.mkdir(parents=True)
    for name, text in DEFINITIONS.items():
        (SERVERS / f'{name}.json').write_text(text)
    (HOME / '.ssh').mkdir()


def flat(text):
    """Wrapped lines as one."""
    return re.sub(r'\s+', ' ', text)


def judge(what, done, status, code, words):
    said = flat(done.stdout + done.stderr)
    if done.returncode != status:
        yield f'{what}: exit status {done.returncode}, not {status}: {said[-600:]}'
    if code and f'[MCP-{code}' not in said:
        yield f'{what}: not MCP-{code}: {said[-600:]}'
    yield from (f'{what}: does not say {w!r}: {said[-600:]}' for w in words if w not in said)
    yield from (f'{what}: {c} is explained nowhere' for c in re.findall(r'\[(MCP-[A-Z]-[A-Z0-9-]+)', said) if c not in CODES)


@case
def commands_that_are_wrong():
    if len(COMMANDS) < 60:
        yield 'some were lost'
    for line, status, code, words in COMMANDS:
        done = ctl('--user', *line.split(), env={'EDITOR': '', 'VISUAL': '', 'SYSTEMD_EDITOR': ''})
        yield from judge(line, done, status, code, words)
        if 'mcpctl: ' in done.stderr and not re.search(r'[.?:]( .*)? \[MCP-[A-Z0-9-]+\]\s*$', flat(done.stderr)):
            yield f'{line}: no sentence with a code at its end: {done.stderr}'
    if sorted(p.stem for p in SERVERS.iterdir()) != sorted(DEFINITIONS):
        yield f'something was written: {sorted(SERVERS.iterdir())}'


@case
def files_that_are_wrong():
    path = ROOT / 'x.json'
    for text, status, code, place, words in FILES:
        path.write_text(text)
        path.chmod(0o644)
        done = ctl('--user', 'check', str(path))
        yield from judge(text, done, status, code, [str(path), *words, *([f'x.json:{place}: ' if code[0] != 'P' else f'x.json:{place}'] if place else [])])


@case
def the_commonest_mistakes_are_listed_and_tried():
    manual = (SOURCE / 'src/ctl/mcpctl.1').read_text().partition('.Sh COMMON MISTAKES')[2].partition('.Sh JSON')[0]
    listed = re.findall(r'^\.It Li (MCP-\S+)$', manual, re.MULTILINE)
    if len(listed) != 5:
        yield f'{listed} are listed'
    tried = {f'MCP-{code}' for _, _, code, _, words in FILES if words}
    # Of a server that runs: the container's cases try them.
    for name, code in (('test_starting.py', 'MCP-E-SLOW-START'), ('test_people.py', 'MCP-E-NOISE')):
        if code in (SOURCE / 'tests/integration' / name).read_text():
            tried.add(code)
    yield from (f'{code} is tried nowhere' for code in listed if code not in tried)


@case
def a_command_that_is_wrong_is_json_where_json_is_wanted():
    for line in ('show file', 'call files echo {', 'probe files', 'remove nothing'):
        done = ctl('--user', '--json', *line.split())
        answer = json.loads(done.stdout)
        if set(answer) != {'error'} or set(answer['error']) != {'code', 'message', 'remedy'} or answer['error']['code'] not in CODES:
            yield f'{line}: {done.stdout}'


@case
def arguments_come_from_a_file_or_from_standard_input():
    (ROOT / 'good.json').write_text('{"text": "x"}')
    for operand, stdin in (('@good.json', ''), ('-', '{"text": "x"}'), ('{"text": "x"}', '')):
        # Understood: what is missing now is the server.
        yield from judge(operand, ctl('--user', 'call', 'files', 'echo', operand, stdin=stdin), 69, 'X-NOT-LISTENING', [])


@case
def without_a_home_or_a_runtime_directory():
    yield from judge('list', ctl('--user', 'list', env={'HOME': '', 'XDG_CONFIG_HOME': ''}), 69, 'X-NO-HOME', ['Set HOME'])
    yield from judge('probe', ctl('--user', 'probe', 'files', env={'XDG_RUNTIME_DIR': str(ROOT / 'nowhere')}), 69, 'X-NOT-LISTENING', [])


if __name__ == '__main__':
    fill()
    sys.exit(run())
