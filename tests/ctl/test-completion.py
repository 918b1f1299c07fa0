#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Completion as zsh and fish do it at a terminal: a line is typed, Tab is pressed, and the line that stands there is looked at.

  test-completion.py SOURCE-DIR
"""

import fcntl
import os
import pathlib
import pty
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tree'))
from cases import Skip, case, run  # pylint: disable=wrong-import-position

SOURCE = pathlib.Path(sys.argv[1]).resolve()
TEMPORARY = tempfile.TemporaryDirectory(prefix='mcpctl-completion-', ignore_cleanup_errors=True)
TOP = pathlib.Path(TEMPORARY.name)
PATIENCE = float(os.environ.get('MCP_TEST_PATIENCE', '1')) * 30

# What is typed, and what has to stand there after Tab.
LINES = (
    ('mcpctl stat', 'mcpctl status '),
    ('mcpctl rest', 'mcpctl restart '),
    ('mcpctl --inl', 'mcpctl --inline-secrets '),
    ('mcpctl show fi', 'mcpctl show files '),
    ('mcpctl --user show git', 'mcpctl --user show github-mcp '),
    ('mcpctl status files git', 'mcpctl status files github-mcp '),
    ('mcpctl show files git', 'mcpctl show files git'),
    ('mcpctl list fi', 'mcpctl list fi'),
    ('mcpctl add fi', 'mcpctl add fi'),
    ('mcpctl import defi', 'mcpctl import definition.json '),
    ('mcpctl check defi', 'mcpctl check definition.json '),
    ('mcpctl import --from=curs', 'mcpctl import --from=cursor '),
    ('mcpctl add x --network=bl', 'mcpctl add x --network=blocked '),
    ('mcpctl why files --path=defi', 'mcpctl why files --path=definition.json '),
    ('mcpctl call files echo @defi', 'mcpctl call files echo @definition.json '),
    ('mcpctl call fi', 'mcpctl call files '),
    ('mcpctl run --env-file=defi', 'mcpctl run --env-file=definition.json '),
    ('mcpctl show my', 'mcpctl show my\\ notes '),
    ('mcpctl status my\\ notes fi', 'mcpctl status my\\ notes files '),
    ('mcp-connect my', 'mcp-connect my\\ notes '),
    ('mcp-connect fi', 'mcp-connect files '),
    ('mcp-connect --qui', 'mcp-connect --quiet '),
    ('mcp-connect --system git', 'mcp-connect --system github-mcp '),
)

# Names are whatever a client's configuration, or a stranger's, has for keys.
EVIL = f'$(>{TOP}/executed)'
WIDTH = len(EVIL) + 1
LIST = ''.join(f'{name:{WIDTH}}{state}\n' for name, state in (
    ('NAME', 'STATE'), ('files', 'running'), ('github-mcp', 'wrong'), ('my notes', 'listening'), (EVIL, 'listening')))

ZSH = f"""
PS1='ready> '
unsetopt prompt_sp
fpath=({TOP}/functions $fpath)
autoload -Uz compinit && compinit -u -D
answer() {{ print -rn -- "$BUFFER" > {TOP}/new; mv {TOP}/new {TOP}/line; BUFFER=; zle redisplay }}
zle -N answer
bindkey '^X' answer
"""

FISH = f"""
function fish_prompt; echo -n 'ready> '; end
set -g fish_autosuggestion_enabled 0
source {SOURCE}/src/ctl/mcpctl.fish
source {SOURCE}/src/connect/mcp-connect.fish
function answer; commandline -b | string collect -N > {TOP}/new; mv {TOP}/new {TOP}/line; commandline -r ''; end
bind \\cx answer
"""


def fill():
    (TOP / 'bin').mkdir()
    program = TOP / 'bin/mcpctl'
    program.write_text(f"#!/bin/sh\ncat {TOP}/list\n")
    (TOP / 'list').write_text(LIST)
    program.chmod(0o755)
    shutil.copy(program, TOP / 'bin/mcp-connect')
    (TOP / 'functions').mkdir()
    shutil.copy(SOURCE / 'src/ctl/mcpctl.zsh', TOP / 'functions/_mcpctl')
    shutil.copy(SOURCE / 'src/connect/mcp-connect.zsh', TOP / 'functions/_mcp-connect')
    (TOP / 'work').mkdir()
    (TOP / 'work/definition.json').write_text('{}')
    (TOP / 'start.zsh').write_text(ZSH)
    (TOP / 'start.fish').write_text(FISH)


class Shell:
    """An interactive one on a terminal."""

    def __init__(self, argv):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 50, 200, 0, 0))
        env = {'HOME': str(TOP), 'ZDOTDIR': str(TOP), 'XDG_CONFIG_HOME': str(TOP), 'XDG_DATA_HOME': str(TOP), 'TERM': 'vt100',
               'LC_ALL': 'C.UTF-8', 'PATH': f'{TOP}/bin:/usr/bin:/bin'}
        self.process = subprocess.Popen(argv, stdin=slave, stdout=slave, stderr=slave, env=env, cwd=TOP / 'work', start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.seen = b''

    def read(self, seconds):
        while select.select([self.master], [], [], seconds)[0]:
            try:
                part = os.read(self.master, 65536)
            except OSError:
                return
            self.seen += part
            # Some shells ask a terminal who it is, and wait for the answer.
            if b'\033[c' in part or b'\033[0c' in part:
                os.write(self.master, b'\033[?1;2c')

    def wait_for(self, done, what):
        deadline = time.monotonic() + PATIENCE
        while not done():
            self.read(0.05)
            if time.monotonic() > deadline:
                raise AssertionError(f'{what} did not come: {self.seen[-800:]!r}')

    def type(self, text):
        os.write(self.master, text.encode())

    def complete(self, line):
        """What stands on the command line after Tab."""
        answer = TOP / 'line'
        answer.unlink(missing_ok=True)
        self.type(line + '\t\x18')
        self.wait_for(answer.exists, f'the answer to {line!r}')
        return answer.read_text()

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def completes(program, *options, source):
    if not shutil.which(program):
        raise Skip(f'{program} is not installed')
    shell = Shell([program, *options])
    try:
        shell.wait_for(lambda: shell.seen, 'a prompt')
        shell.read(1)
        shell.type(f'source {TOP}/{source}\r')
        shell.wait_for(lambda: b'ready> ' in shell.seen, 'the prompt')
        for line, expected in LINES:
            found = shell.complete(line)
            # Whether a blank follows is the shell's taste.
            if found.rstrip() != expected.rstrip():
                yield f'{line!r} becomes {found!r}, not {expected!r}'
        shell.complete('mcpctl show ')
        if (TOP / 'executed').exists():
            yield 'a name was executed'
    finally:
        shell.close()


@case
def zsh_completes_at_a_terminal():
    yield from completes('zsh', '-f', '-i', source='start.zsh')


@case
def fish_completes_at_a_terminal():
    yield from completes('fish', '-i', source='start.fish')


if __name__ == '__main__':
    fill()
    sys.exit(run())
