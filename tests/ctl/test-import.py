#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""mcpctl import and export on made-up home directories, without any manager.

  test-import.py MCPCTL SOURCE-DIR
"""

import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tree'))
from cases import Skip, case, run  # pylint: disable=wrong-import-position

MCPCTL = os.path.abspath(sys.argv[1])
TEMPORARY = tempfile.TemporaryDirectory(prefix='mcpctl-import-')
KEPT = ('PATH', 'LD_LIBRARY_PATH', 'ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS')
SECRETS = ('s3cret-of-env', 's3cret-of-args')

CURSOR = """{
  // my servers
  "mcpServers": {
    "mail": {
      "command": "npx", // runner
      "args": ["-y", "mail-mcp", "--api-key", "s3cret-of-args"],
      "env": { "MAIL_PASS": "s3cret-of-env", "MODE": "fast" }
    },
    "web": { "url": "https://example.org" },
    "plain": { "command": "uvx", "args": ["plain"] },
  },
  "other": [1, 2, 3], /* keep */
}
"""


class Home:
    """A home directory with Cursor's file in it."""

    def __init__(self, text=CURSOR):
        self.path = pathlib.Path(tempfile.mkdtemp(dir=TEMPORARY.name))
        self.client = self.path / '.cursor/mcp.json'
        self.servers = self.path / '.config/mcp/servers.d'
        self.write(self.client, text)

    def write(self, path, text, mode=0o600):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(mode)

    def environment(self):
        return {'HOME': str(self.path), 'LC_ALL': 'C', 'DBUS_SESSION_BUS_ADDRESS': f'unix:path={self.path}/no-bus',
                'XDG_RUNTIME_DIR': str(self.path), **{k: os.environ[k] for k in KEPT if k in os.environ}}

    def ctl(self, *args, stdin=None):
        return subprocess.run([MCPCTL, '--user', *args], env=self.environment(), input=stdin or '', stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=60, check=False, cwd=self.path)

    def definitions(self):
        return sorted(p.name for p in self.servers.iterdir()) if self.servers.exists() else []

    def definition(self, name):
        return json.loads((self.servers / f'{name}.json').read_text())

    def mode(self, name):
        return (self.servers / f'{name}.json').stat().st_mode & 0o777


def wrong(done, status, *words):
    said = done.stdout + done.stderr
    if done.returncode != status:
        yield f'{done.args[2:]}: exit status {done.returncode}, not {status}: {said[-1500:]}'
    yield from (f'{done.args[2:]}: does not say {w!r}: {said[-1500:]}' for w in words if w not in said)
    yield from (f'{done.args[2:]}: shows a secret' for s in SECRETS if s in said)


@case
def a_dry_run_changes_nothing():
    home = Home()
    done = home.ctl('import', '--from=cursor', '--dry-run', '--rewrite')
    yield from wrong(done, 0, 'mail becomes', 'MAIL_PASS', 'web is a remote server', 'environment.d')
    if home.definitions() or home.client.read_text() != CURSOR:
        yield 'something was written'


@case
def nobody_is_asked_without_a_terminal():
    home = Home()
    yield from wrong(home.ctl('import', '--from=cursor'), 2, 'MCP-X-YES', '--yes')
    if home.definitions():
        yield 'something was written'


@case
def definitions_are_written_without_secrets():
    home = Home()
    done = home.ctl('import', str(home.client), '--yes')
    yield from wrong(done, 0, 'To undo it', f'rm {home.servers}/mail.json')
    if home.definitions() != ['mail.json', 'plain.json']:
        yield f'{home.definitions()}'
        return
    text = (home.servers / 'mail.json').read_text()
    yield from (f'{s} is in the definition' for s in SECRETS if s in text)
    mail = home.definition('mail')
    if mail['command'] != 'npx' or mail['env']['MODE'] != 'fast' or not mail['args'][3].startswith('${'):
        yield text
    if home.mode('mail') != 0o600 or home.mode('plain') != 0o644:
        yield f'modes {home.mode("mail"):o} {home.mode("plain"):o}'
    if home.client.read_text() != CURSOR:
        yield 'the client\'s file was changed without --rewrite'
    yield from wrong(home.ctl('list'), 0, 'mail', 'plain')


@case
def secrets_are_written_where_that_is_asked_for():
    home = Home()
    yield from wrong(home.ctl('import', '--from=cursor', '--yes', '--inline-secrets'), 0)
    mail = home.definition('mail')
    if mail['env']['MAIL_PASS'] != SECRETS[0] or mail['args'][3] != SECRETS[1] or home.mode('mail') != 0o600:
        yield f'{mail} {home.mode("mail"):o}'


@case
def what_is_there_is_not_replaced_unless_forced():
    home = Home()
    home.write(home.servers / 'mail.json', '{ "command": "/bin/cat" }\n')
    yield from wrong(home.ctl('import', '--from=cursor', '--yes'), 1, 'is defined already', '--force')
    if home.definition('mail') != {'command': '/bin/cat'}:
        yield 'replaced without --force'
    done = home.ctl('import', '--from=cursor', '--yes', '--force')
    yield from wrong(done, 0, 'which is replaced', f'mv {home.servers}/mail.json.bak {home.servers}/mail.json')
    if home.definition('mail')['command'] != 'npx':
        yield 'not replaced with --force'
    if (home.servers / 'mail.json.bak').read_text() != '{ "command": "/bin/cat" }\n':
        yield 'the old definition is not kept'


@case
def an_import_again_has_nothing_to_do():
    home = Home()
    home.ctl('import', '--from=cursor', '--yes')
    yield from wrong(home.ctl('import', '--from=cursor'), 0, 'is defined so already', 'nothing to write')


@case
def rewrite_changes_only_what_it_has_to():
    home = Home()
    done = home.ctl('import', '--from=cursor', '--yes', '--rewrite')
    yield from wrong(done, 0, f'mv {home.client}.before-mcp {home.client}')
    expected = CURSOR.replace('"npx"', '"mcp-connect"').replace('"uvx", "args": ["plain"]', '"mcp-connect", "args": ["--user", "plain"]')
    expected = expected.replace('["-y", "mail-mcp", "--api-key", "s3cret-of-args"],\n      "env": { "MAIL_PASS": "s3cret-of-env", "MODE": '
                                '"fast" }\n', '["--user", "mail"]\n')
    if home.client.read_text() != expected:
        yield home.client.read_text()
    backup = pathlib.Path(f'{home.client}.before-mcp')
    if backup.read_text() != CURSOR or backup.stat().st_mode & 0o777 != 0o600 or home.client.stat().st_mode & 0o777 != 0o600:
        yield 'the backup is not what the file was'
    yield from wrong(home.ctl('import', '--from=cursor', '--yes', '--rewrite'), 0, 'runs mcp-connect already', 'nothing to write')


@case
def all_or_nothing():
    home = Home()
    # A directory where the second definition would go.
    (home.servers / 'plain.json').mkdir(parents=True)
    done = home.ctl('import', '--from=cursor', '--yes', '--force', '--rewrite')
    yield from wrong(done, 1, 'MCP-X-WRITE')
    if 'mail.json' in home.definitions() or home.client.read_text() != CURSOR:
        yield f'something stayed: {home.definitions()}'


@case
def json_says_the_same():
    home = Home()
    done = home.ctl('import', '--from=cursor', '--json', '--yes')
    yield from wrong(done, 0)
    report = json.loads(done.stdout)
    if not report['written'] or report['client'] != 'cursor':
        yield f'{report}'
    servers = {s['name']: s for s in report['servers']}
    if servers['web']['what'] != 'remote' or servers['mail']['secrets'] != ['MAIL_PASS'] or not servers['mail']['write']:
        yield f'{servers}'


@case
def one_server_alone():
    home = Home()
    yield from wrong(home.ctl('import', '--from=cursor', '--yes', '--name=plain'), 0)
    if home.definitions() != ['plain.json']:
        yield f'{home.definitions()}'
    yield from wrong(home.ctl('import', '--from=cursor', '--yes', '--name=nix'), 4, 'MCP-X-NO-SUCH-SERVER')
    yield from wrong(home.ctl('import', '-', '--yes', '--name=pasted', stdin='{ "command": "uvx", "args": ["x"] }'), 0)
    if 'pasted.json' not in home.definitions():
        yield f'{home.definitions()}'


@case
def wrong_things():
    home = Home()
    home.write(home.path / 'bad.json', '{\n  "mcpServers": {\n    "a": }\n}')
    home.write(home.path / 'none.json', '{ "hello": 1 }')
    home.write(home.path / 'half.json', '{ "mcpServers": { "good": { "command": "/bin/cat" },\n "bad": { "command": "npx" } } }')
    for args, status, words in (
            (('import',), 2, ('MCP-X-USAGE', '--from')),
            (('import', '--from=emacs'), 2, ('MCP-X-CLIENT', 'claude-desktop')),
            (('import', '--from=zed'), 1, ('MCP-X-NO-CLIENT-FILE', '.config/zed/settings.json')),
            (('import', 'nowhere.json'), 2, ('MCP-X-FILE',)),
            (('import', '/'), 2, ('MCP-X-FILE',)),
            (('import', 'bad.json', '--yes'), 2, ('bad.json:3:10', 'MCP-I-JSON')),
            (('import', 'none.json', '--yes'), 2, ('MCP-I-SHAPE', '--from')),
            (('import', 'half.json', '--yes'), 1, ('half.json:2:9', 'MCP-C-NO-ARGS at /mcpServers/bad')),
            (('export',), 2, ('--for', 'vscode')),
            (('export', '--for=registry'), 2, ('--for',)),
            (('export', '--for=vscode', 'nix'), 4, ('MCP-X-NO-SUCH-SERVER',)),
    ):
        yield from wrong(home.ctl(*args), status, *words)
    if home.definitions() != ['good.json']:
        yield f'{home.definitions()}'


@case
def export_fits_into_every_client():
    home = Home()
    home.ctl('import', '--from=cursor', '--yes')
    for client, words in (
            ('claude-desktop', ('"mcpServers"', '"mcp-connect"', '"--user"', '"mail"')), ('vscode', ('"servers"', '"stdio"')),
            ('zed', ('"context_servers"',)), ('codex', ('[mcp_servers."mail"]', 'startup_timeout_sec')), ('mcpproxy', ('"name": "mail"',)),
    ):
        yield from wrong(home.ctl('export', f'--for={client}'), 0, *words)


@case
def codex_is_read_where_toml_is():
    home = Home()
    home.write(home.path / '.codex/config.toml', 'model = "x" # y\n[mcp_servers.docs]\ncommand = "npx"\nargs = ["docs"]\n')
    done = home.ctl('import', '--from=codex', '--yes', '--rewrite')
    if 'reads no TOML' in done.stdout:
        raise Skip('built without toml++')
    yield from wrong(done, 0, 'docs becomes')
    text = (home.path / '.codex/config.toml').read_text()
    if text != 'model = "x" # y\n[mcp_servers.docs]\ncommand = "mcp-connect"\nargs = ["--user", "docs"]\n':
        yield text


@case
def a_person_is_asked():
    for answer, written in ((b'n\n', False), (b'\n', False), (b'y\n', True)):
        home = Home()
        master, slave = pty.openpty()
        with subprocess.Popen([MCPCTL, '--user', '--no-pager', 'import', '--from=cursor'], env={**home.environment(), 'TERM': 'dumb'},
                              stdin=slave, stdout=slave, stderr=slave) as process:
            os.close(slave)
            os.write(master, answer)
            shown = b''
            while True:
                try:
                    part = os.read(master, 65536)
                except OSError:
                    break
                if not part:
                    break
                shown += part
            process.wait(60)
        os.close(master)
        if b'Write 2 definitions?' not in shown or bool(home.definitions()) != written:
            yield f'{answer}: {shown.decode()[-800:]}'
        if any(s.encode() in shown for s in SECRETS):
            yield 'a secret is shown'


if __name__ == '__main__':
    sys.exit(run())
