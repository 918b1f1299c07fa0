#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The polkit rule, run by node in polkit's place: what it grants, and that it grants nothing else.

  test-polkit-rule.py RULES-FILE
"""

import json
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tree'))
from cases import Skip, case, run  # pylint: disable=wrong-import-position

RULES = sys.argv[1]
MANAGE = 'org.freedesktop.systemd1.manage-units'

PROGRAM = """
const rules = [];
globalThis.polkit = { addRule: r => rules.push(r), Result: { YES: 'yes', NOT_HANDLED: null } };
(0, eval)(require('fs').readFileSync(process.argv[1], 'utf8'));
const answers = JSON.parse(process.argv[2]).map(([id, details, groups]) =>
    rules.map(r => r({ id, lookup: k => details[k] }, { isInGroup: g => groups.includes(g) })));
console.log(JSON.stringify(answers));
"""


def ask(questions):
    node = shutil.which('node')
    if not node:
        raise Skip('node is not installed')
    done = subprocess.run([node, '-e', PROGRAM, RULES, json.dumps(questions)], capture_output=True, text=True, check=True, timeout=60)
    return [a[0] for a in json.loads(done.stdout)]


def question(unit='mcp-server@a.service', verb='start', groups=('users', 'mcp'), action=MANAGE):
    return [action, {k: v for k, v in (('unit', unit), ('verb', verb)) if v is not None}, list(groups)]


@case
def members_start_stop_and_restart_servers():
    questions = [question(unit, verb) for unit in ('mcp-server@a.service', 'mcp-server@my-x.y_2.socket', 'mcp-server@a\\x20b.socket')
                 for verb in ('start', 'stop', 'restart')]
    yield from (f'refused: {q}' for q, a in zip(questions, ask(questions)) if a != 'yes')


@case
def nothing_else_is_granted():
    questions = [
        question(groups=['users']), question(groups=[]),
        *(question(verb=v) for v in ('kill', 'set-property', 'reset-failed', 'reload', 'freeze', 'ref', '', None)),
        *(question(unit=u) for u in (
            'ssh.service', 'mcp-server.service', 'mcp-server@.service', 'mcp.slice', 'xmcp-server@a.service', 'mcp-server@a.timer',
            'mcp-server@a.service.d', 'mcp-server@a.socket\n', 'mcp-server@a b.service', 'mcp-server@../x.service', '', None)),
        *(question(action=a) for a in (
            'org.freedesktop.systemd1.manage-unit-files', 'org.freedesktop.systemd1.reload-daemon', 'org.freedesktop.systemd1.set-environment')),
    ]
    yield from (f'granted: {q}' for q, a in zip(questions, ask(questions)) if a is not None)


if __name__ == '__main__':
    sys.exit(run())
