#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clients' files as people have them: comments, trailing commas, a byte order mark, CRLF, placeholders of every kind, Windows'
commands, secrets in all places, entries that are remote, broken, disabled or there twice. Every entry is accounted for, with the
code that it deserves, and no secret ever shows.

  test-messy.py MCPCTL
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tree'))
from cases import case, run  # pylint: disable=wrong-import-position

MCPCTL = os.path.abspath(sys.argv[1])
TEMPORARY = tempfile.TemporaryDirectory(prefix='mcpctl-messy-')
KEPT = ('PATH', 'LD_LIBRARY_PATH', 'ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS')
# In every value that is one; nothing else has it.
SECRET = 's3cret'

# client: (where its file is, its text, {entry: (what becomes of it, codes)}, variables that have to be set, secrets)
FILES = {}

FILES['claude-desktop'] = (
    '.config/Claude/claude_desktop_config.json', '\ufeff' + r"""{
  // a byte order mark, CRLF and a comment, by an editor of Windows
  "globalShortcut": "",
  "mcpServers": {
    "City Weather": { "command": "uvx", "args": ["weather-mcp"], "env": { "UNITS": "metric", "WEATHER_API_KEY": "s3cret-env" } },
    "city weather": { "command": "uvx", "args": ["other"] },
    "windows": { "command": "cmd", "args": ["/c", "npx", "-y", "server-filesystem", "C:\\Users\\me"] },
    "windows2": { "command": "C:\\Program Files\\nodejs\\npx.cmd", "args": ["-y", "x"] },
    "docker": { "command": "docker", "args": ["run", "-i", "--rm", "-e", "GITHUB_TOKEN", "-e", "API_KEY=s3cret-e", "ghcr.io/x"],
                "env": { "GITHUB_TOKEN": "s3cret-docker" } },
    "🚀 rocket/launch": { "command": "npx", "args": ["rocket"] },
    "relative": { "command": "./bin/server", "args": ["../data"] },
    "tilde": { "command": "~/bin/server", "args": ["--dir", "~/notes"] },
    "remote": { "url": "https://u:s3cret-password@example.org/mcp?token=s3cret-query", "headers": { "Authorization": "Bearer s3cret-h" } },
    "unknown": { "command": "npx", "args": ["a"], "fooBar": true, "env": { "A": "1", "A": "2" } },
    "twice": { "command": "first" },
    "twice": { "command": "second" },
    "empty": {}, "null": null, "string": "npx foo",
    "line": { "command": "npx -y foo --key s3cret-line" },
  },
}
""".replace('\n', '\r\n'), {
        'City Weather': ('import', []), 'city weather': ('import', []), 'windows': ('import', ['WINDOWS', 'WINDOWS']),
        'windows2': ('broken', ['WINDOWS']), 'docker': ('import', ['CONTAINER']), '🚀 rocket/launch': ('import', []),
        'relative': ('broken', ['RELATIVE-PATH', 'RELATIVE-PATH']), 'tilde': ('import', ['TILDE']), 'remote': ('remote', []),
        'unknown': ('import', ['TWICE', 'UNKNOWN-KEY']), 'twice': ('import', ['TWICE']), 'empty': ('broken', ['NO-COMMAND']),
        'null': ('broken', ['TYPE']), 'string': ('broken', ['TYPE']), 'line': ('import', ['C-COMMAND-LINE']),
    }, set(), {'WEATHER_API_KEY', 'GITHUB_TOKEN', 'DOCKER_API_KEY'})

FILES['claude-code'] = (
    '.claude.json', """{ "numStartups": 3,
  "projects": {
    "/srv/app": { "allowedTools": [], "mcpServers": {
        "local-db": { "type": "stdio", "command": "node", "args": ["./server.js"], "env": { "DB": "${DB_URL:-postgres://a:s3cret@h/d}" } } } },
    "/srv/other": { "mcpServers": {} } },
  "mcpServers": {
    "ledger": { "type": "stdio", "command": "${TOOLS_DIR:-/opt/tools}/bin/ledger", "args": ["--db", "${LEDGER_DB}"],
                "env": { "LEDGER_KEY": "${LEDGER_KEY}", "NESTED": "${A:-${B}}" }, "timeout": 30000, "alwaysLoad": true },
    "http": { "type": "http", "url": "https://x", "headers": { "Authorization": "Bearer s3cret" } },
    "url": { "url": "https://y" } } }
""", {
        'local-db': ('import', []), 'ledger': ('import', ['CLIENTS', 'NESTED']), 'http': ('remote', []), 'url': ('remote', []),
    }, {'LEDGER_DB', 'LEDGER_KEY', 'A'}, {'DB'})

FILES['cursor'] = (
    '.cursor/mcp.json', """{ "mcpServers": { /* c */
  "mail": { "command": "${workspaceFolder}/bin/mail", "args": ["--home", "${userHome}", "${env:MAIL_DIR}"],
            "env": { "PASS": "${env:MAIL_PASS}" }, "envFile": "${workspaceFolder}/.env.mail" },
  "off": { "command": "npx", "args": ["q"], "disabled": true },
  "auth": { "url": "https://x", "auth": { "CLIENT_ID": "a", "CLIENT_SECRET": "s3cret" } },
}, }
""", {'mail': ('import', []), 'off': ('import', []), 'auth': ('remote', [])}, {'WORKSPACE_FOLDER', 'MAIL_DIR', 'MAIL_PASS'}, set())

FILES['vscode'] = (
    '.config/Code/User/mcp.json', """{
  // asked once by the editor
  "inputs": [ { "type": "promptString", "id": "issueToken", "description": "Token", "password": true },
              { "type": "pickString", "id": "mode", "options": ["a", "b"], "default": "a" }, { "type": "command", "id": "cmd", "command": "x" } ],
  "servers": {
    "tracker": { "type": "stdio", "command": "node",
      "args": ["${workspaceFolder}/tracker.js", "--mode=${input:mode}", "--c=${input:cmd}", "--x=${input:nix}", "${config:foo.bar}", "${env:HOME}/x"],
      "cwd": "${workspaceFolder}", "envFile": "${workspaceFolder}/.env",
      "env": { "TRACKER_TOKEN": "${input:issueToken}", "DEBUG": null, "PORT": 8123, "STATIC_KEY": "s3cret" },
      "sandboxEnabled": true, "sandbox": { "filesystem": { "allowWrite": ["/srv/tracker"], "denyRead": ["/etc"] },
      "network": { "allowedDomains": ["x"] } }, "dev": { "watch": "x" } },
    "remote": { "type": "http", "url": "https://api/", "headers": { "Authorization": "Bearer ${input:issueToken}" } },
    "odd": { "type": "stdoi", "command": "x" },
  },
}
""", {
        'tracker': ('import', ['DEFAULT', 'NO-INPUT', 'REMOVED', 'LOST', 'LOST', 'LOST']), 'remote': ('remote', []),
        'odd': ('broken', ['TRANSPORT']),
    }, {'WORKSPACE_FOLDER', 'CMD', 'NIX', 'CONFIG_FOO_BAR', 'ISSUE_TOKEN'}, {'STATIC_KEY'})

FILES['zed'] = (
    '.config/zed/settings.json', """{ "theme": "x", "context_server_timeout": 30, "context_servers": {
    "notes": { "command": "/opt/notes/bin/notes-mcp", "args": [], "env": null, "timeout": 120, "enabled": true, "remote": true },
    "older": { "command": { "path": "uvx", "args": ["older-mcp"], "env": { "A_TOKEN": "s3cret" } }, "settings": { "api_key": "s3cret" } },
    "extension": { "source": "extension", "settings": { "token": "s3cret" } },
    "url": { "url": "https://x", "headers": { "X": "s3cret" } }, } }
""", {
        'notes': ('import', ['LOST']), 'older': ('import', ['CLIENTS']), 'extension': ('broken', ['CLIENTS', 'EXTENSION']),
        'url': ('remote', []),
    }, set(), {'A_TOKEN'})

FILES['windsurf'] = (
    '.codeium/windsurf/mcp_config.json', """{ "mcpServers": {
  "a": { "command": "npx", "args": ["-y", "a", "--token=${env:TOK}"], "disabled": true, "disabledTools": ["x"] },
  "b": { "serverUrl": "https://x/sse", "headers": { "Authorization": "Bearer s3cret" } },
  "c": { "command": "npx", "args": ["-y", "c@1", "--api-key", "s3cret"], "disabled": true, "enabled": true } } }
""", {'a': ('import', ['CLIENTS']), 'b': ('remote', []), 'c': ('import', ['TWICE'])}, {'TOK'}, {'C_API_KEY'})

FILES['gemini'] = (
    '.gemini/settings.json', """{ "theme": "x", "mcpServers": {
  "g": { "command": "python3", "args": ["$HOME/s.py", "${X:-y}", "$MY_TOKEN", "cost: 5$"], "cwd": "/srv/g", "timeout": 600000,
         "trust": true, "includeTools": ["a"], "env": { "T": "$MY_TOKEN" } },
  "sub": { "command": "python3", "cwd": "./sub" },
  "h": { "httpUrl": "https://x", "headers": { "Authorization": "s3cret" } } }, "mcp": { "allowed": ["g"] } }
""", {'g': ('import', ['CLIENTS', 'CLIENTS']), 'sub': ('broken', ['RELATIVE-PATH']), 'h': ('remote', [])}, {'MY_TOKEN'}, set())

FILES['codex'] = (
    '.codex/config.toml', """model = "gpt" # comment
[mcp_servers.docs]
command = "npx"
args = ["-y", "docs", "--api-key", "s3cret-arg"]
env_vars = ["GH_TOKEN"]
startup_timeout_sec = 20.5
tool_timeout_sec = 60
enabled = false
[mcp_servers.docs.env]
DOCS_TOKEN = "s3cret-toml"
[mcp_servers.remote]
url = "https://x"
bearer_token_env_var = "TOK"
[mcp_servers."my server"]
command = "cat"
cwd = "~/x"
""", {'docs': ('import', []), 'remote': ('remote', []), 'my server': ('import', [])}, {'GH_TOKEN'}, {'DOCS_TOKEN', 'DOCS_API_KEY'})

FILES['mcpproxy'] = (
    '.mcpproxy/mcp_config.json', """{ "listen": ":8080", "api_key": "s3cret", "docker_isolation": { "mode": "sandbox" }, "mcpServers": [
  { "name": "notes", "enabled": true, "protocol": "stdio", "command": "uvx", "args": ["notes==1"], "working_dir": "/srv/notes",
    "env": { "T": "${env:NOTES_TOKEN}", "K": "${keyring:notes}" }, "init_timeout": "90s", "isolation": { "mode": "docker", "image": "x" },
    "quarantined": true },
  { "name": "r", "enabled": true, "url": "https://x", "headers": { "A": "s3cret" } },
  { "name": "notes", "enabled": true, "command": "x" },
  { "command": "noname" },
  { "name": "Notes", "command": "cat", "enabled": false }, 5 ] }
""", {
        'notes': ('import', ['ISOLATION', 'LOST']), 'r': ('remote', []), 'notes#2': ('broken', ['COLLISION']), 'Notes': ('import', []),
    }, {'NOTES_TOKEN', 'NOTES'}, set())

FILES['cline'] = (
    '.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json', """{ "mcpServers": {
  "c": { "command": "npx", "args": ["-y", "c"], "env": { "API_KEY": "s3cret" }, "disabled": false, "autoApprove": ["x"], "timeout": 60 },
  "r": { "type": "streamableHttp", "url": "https://x", "headers": { "Authorization": "Bearer s3cret" }, "disabled": true } } }
""", {'c': ('import', ['CLIENTS']), 'r': ('remote', [])}, set(), {'API_KEY'})

FILES['roo'] = (
    '.roo/mcp.json', """{ "mcpServers": {
  "w": { "command": "node", "args": ["build/index.js", "${env:R_TOKEN}"], "alwaysAllow": ["a"], "watchPaths": ["build"], "disabled": true } } }
""", {'w': ('import', ['CLIENTS', 'LOST'])}, {'R_TOKEN'}, set())

FILES['kiro'] = (
    '.kiro/settings/mcp.json', """{ "mcpServers": { "k": { "command": "uvx", "args": ["k@latest"], "env": { "TOKEN": "${K_TOKEN}" },
  "autoApprove": [], "disabled": false } } }
""", {'k': ('import', ['CLIENTS'])}, {'K_TOKEN'}, set())

FILES['copilot'] = (
    '.copilot/mcp-config.json', """{ "mcpServers": {
  "l": { "type": "local", "command": "npx", "args": ["a", "${X:-y}"], "tools": ["*"], "env": { "K": "${L_KEY}" } },
  "r": { "type": "http", "url": "https://x", "headers": { "A": "s3cret" }, "tools": ["*"] } } }
""", {'l': ('import', ['CLIENTS']), 'r': ('remote', ['CLIENTS'])}, {'L_KEY'}, set())

FILES['opencode'] = (
    '.config/opencode/opencode.json', """{ "$schema": "https://opencode.ai/config.json", "mcp": {
  "o": { "type": "local", "command": ["npx", "-y", "o", "--key", "{env:O_KEY}", "{file:~/.secrets/k}", "{literal}"],
         "environment": { "A_TOKEN": "s3cret", "B": "{x}" }, "enabled": true, "timeout": 5000 },
  "none": { "type": "local", "command": [] },
  "r": { "type": "remote", "url": "https://x", "headers": { "Authorization": "Bearer {env:K}" } }, } }
""", {'o': ('import', []), 'none': ('broken', ['NO-COMMAND']), 'r': ('remote', [])}, {'O_KEY', 'SECRETS_K'}, {'A_TOKEN'})


class Home:
    def __init__(self, client):
        self.path = pathlib.Path(tempfile.mkdtemp(dir=TEMPORARY.name))
        self.file = self.path / FILES[client][0]
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(FILES[client][1], encoding='utf-8', newline='')
        self.servers = self.path / '.config/mcp/servers.d'

    def ctl(self, *args):
        env = {'HOME': str(self.path), 'LC_ALL': 'C.UTF-8', 'XDG_RUNTIME_DIR': str(self.path),
               'DBUS_SESSION_BUS_ADDRESS': f'unix:path={self.path}/no-bus', **{k: os.environ[k] for k in KEPT if k in os.environ}}
        return subprocess.run([MCPCTL, '--user', *args], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              check=False, cwd=self.path)


def reported(report):
    """The entries of a report by name; the second of one name has a number."""
    servers = {}
    for server in report['servers']:
        name = server['name']
        servers[name if name not in servers else f'{name}#2'] = server
    return servers


def short(code):
    return code.removeprefix('MCP-I-').removeprefix('MCP-')


def account(client, report):
    expected, needs = FILES[client][2:4]
    servers = reported(report)
    if set(servers) != set(expected):
        yield f'{client}: entries {sorted(set(servers) ^ set(expected))} are on one side only'
        return
    for name, (what, codes) in expected.items():
        server = servers[name]
        if server['what'] != what:
            yield f'{client}: {name} is {server["what"]}, not {what}'
        found = [short(p['code']) for p in server['problems']]
        if sorted(found) != sorted(codes):
            yield f'{client}: {name} has {found}, not {codes}'
        yield from (f'{client}: {name}: no place: {p}' for p in server['problems'] if not p['line'])
        yield from (f'{client}: {name}: no sentence: {p["message"]}' for p in server['problems'] if not p['message'].endswith('.'))
    found = {n['variable'] for s in servers.values() if s['what'] == 'import' for n in s['needs']}
    if not needs <= found:
        yield f'{client}: variables {sorted(found)} have to be set, not {sorted(needs)}'


def imported(client):
    home = Home(client)
    dry = home.ctl('import', f'--from={client}', '--dry-run')
    if 'reads no TOML' in dry.stdout + dry.stderr:
        return
    as_json = home.ctl('import', f'--from={client}', '--dry-run', '--json')
    report = json.loads(as_json.stdout)
    yield from account(client, report)
    for name in FILES[client][2]:
        if name.split('#')[0] not in dry.stdout:
            yield f'{client}: the report for people does not have {name}'
    for variable in FILES[client][3] | FILES[client][4]:
        if variable not in dry.stdout:
            yield f'{client}: the report for people does not say that {variable} is needed: {dry.stdout[-800:]}'
    if home.servers.exists():
        yield f'{client}: a dry run wrote definitions'
    home.ctl('import', f'--from={client}', '--yes')
    written = {p.name: p.read_text() for p in home.servers.iterdir()}
    if len(written) != sum(s['write'] for s in report['servers']):
        yield f'{client}: {sorted(written)} was written'
    check = home.ctl('check')
    for text in (dry.stdout, dry.stderr, as_json.stdout, check.stdout, check.stderr, *written.values()):
        if SECRET in text:
            yield f'{client}: a secret shows: {text[max(0, text.index(SECRET) - 200):][:300]}'
    yield from (f'{client}: {n} is not what is read here: {check.stderr[-500:]}' for n in written if f'{n}:' in check.stderr and 'MCP-C-' in check.stderr)


def make_case(client):
    def one():
        yield from imported(client)
    one.__name__ = f'{client.replace("-", " ")} with all that people have in it'
    return case(one)


for every in FILES:
    make_case(every)


@case
def the_client_is_known_by_its_file_alone():
    for client in FILES:
        home = Home(client)
        report = home.ctl('import', str(home.file), '--dry-run', '--json')
        if 'TOML' in report.stderr:
            continue
        if json.loads(report.stdout)['client'] != client:
            yield f'{home.file.name} is taken for {json.loads(report.stdout)["client"]}, and is {client}\'s'


@case
def a_file_that_is_rewritten_runs_mcp_connect():
    for client in FILES:
        home = Home(client)
        done = home.ctl('import', f'--from={client}', '--yes', '--rewrite')
        if 'TOML' in done.stderr:
            continue
        text = home.file.read_text(encoding='utf-8-sig')
        if 'mcp-connect' not in text or f'{home.file.name}.before-mcp' not in done.stdout:
            yield f'{client}: {text} {done.stdout[-600:]} {done.stderr}'
        again = json.loads(home.ctl('import', f'--from={client}', '--dry-run', '--json').stdout)
        before = {n.split('#')[0] for n, (what, codes) in FILES[client][2].items() if what == 'import' and 'C-COMMAND-LINE' not in codes}
        now = {s['name'] for s in again['servers'] if s['what'] == 'already'}
        if before != now:
            yield f'{client}: {sorted(before ^ now)} does not run mcp-connect: {text}'


@case
def what_is_exported_is_read_back():
    for client in FILES:
        home = Home('windsurf')
        home.ctl('import', '--from=windsurf', '--yes')
        for name in ('a', 'c'):
            home.ctl('enable', name)
        done = home.ctl('export', f'--for={client}')
        path = home.path / FILES[client][0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(done.stdout)
        back = home.ctl('import', f'--from={client}', '--dry-run', '--json')
        if 'TOML' in back.stderr:
            continue
        found = {s['name']: s['what'] for s in json.loads(back.stdout)['servers']}
        if found != {'a': 'already', 'c': 'already'}:
            yield f'{client}: {found} of {done.stdout}{done.stderr}'


@case
def projects_beside_the_servers_are_read_whatever_the_client():
    home = Home('claude-code')
    copy = home.path / 'copy.json'
    copy.write_text(FILES['claude-code'][1])
    for client in ('claude-desktop', 'cursor', 'kiro'):
        names = {s['name'] for s in json.loads(home.ctl('import', 'copy.json', f'--from={client}', '--dry-run', '--json').stdout)['servers']}
        if 'local-db' not in names:
            yield f'{client}: {names}'
    (home.path / '.config/mcp').mkdir(parents=True)
    (home.path / '.config/mcp/mcp.json').write_text(FILES['claude-code'][1])
    done = home.ctl('list')
    if 'projects' not in done.stderr or 'MCP-C-SHAPE' not in done.stderr:
        yield f'as mcp.json they are not told of: {done.stdout}{done.stderr}'


if __name__ == '__main__':
    sys.exit(run())
