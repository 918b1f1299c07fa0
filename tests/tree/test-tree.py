#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What has to hold for the tree itself, whatever it does."""

import fnmatch
import pathlib
import re
import shutil
import subprocess
import sys

from cases import Skip, case, run

TREE = pathlib.Path(__file__).resolve().parents[2]

TOP_LEVEL = {
    'meson.build', 'meson_options.txt', 'src', 'units', 'generators', 'policy', 'tests', 'packaging', 'README.md',
    'LICENSE', '.reuse', '.ci', '.clang-format', '.editorconfig', '.gitignore',
}

# Which rooms a room may include, besides itself.  Data flows one way: from the definition to the child.
LIBRARIES = ('basic', 'config', 'manifest', 'plan', 'sandbox', 'manager', 'control', 'report')
ROOMS = {
    'basic': (),
    'config': ('basic',),
    'clients': ('basic', 'config'),
    'manifest': ('basic', 'config'),
    'plan': ('basic', 'config', 'manifest'),
    'sandbox': ('basic', 'config', 'plan'),
    'manager': ('basic',),
    'control': ('basic',),
    'report': ('basic', 'config', 'manifest', 'plan'),
    'supervisor': LIBRARIES,
    'connect': ('basic', 'config', 'control', 'manager'),
    'sandbox-exec': ('basic', 'config', 'manifest', 'plan', 'sandbox', 'report'),
    'mcp-client': ('basic', 'control'),
    'ctl': (*LIBRARIES, 'clients', 'mcp-client'),
    'demo-server': ('basic',),
    'generators': ('basic', 'config', 'manifest', 'plan', 'report'),
}

LINES_MAX = 800
LICENCE = 'LGPL-2.1-or-later'
# The tag in two parts, so that nothing takes it for this file's.
TAG = 'SPDX-License-' 'Identifier'
SPDX = f'{TAG}: {LICENCE}'

# In two parts each, so that this file does not hold them.
FORBIDDEN_TEXT = [a + b for a, b in (
    ('/var/tmp/', 'mcp/'), ('/wo', 'rk/main'), ('/wo', 'rk/shared'), ('registry.', 'npmjs'), ('pypi.', 'org'),
    ('deb.', 'debian.org'), ('127.0.0.1:', '3128'),
)]
UNFINISHED = re.compile(r'\b(' + '|'.join(('TO' 'DO', 'FIX' 'ME', 'XX' 'X')) + r')\b')

# Meson's own, which packagers set as well.
OPTIONS_OF_MESON = {'libexecdir'}

# No command line is ever put together for a shell.
SHELL_CALL = re.compile(r'\b(system|popen|wordexp|execlp|execvp|execvpe)\s*\(')


def files():
    """What is under version control, or would be; without git, everything but build directories."""
    if (TREE / '.git').exists() and shutil.which('git'):
        done = subprocess.run(['git', '-c', f'safe.directory={TREE}', '-C', TREE, 'ls-files', '-z', '--cached', '--others',
                               '--exclude-standard'], stdout=subprocess.PIPE, check=False)
        if done.returncode == 0:
            names = done.stdout.decode().split('\0')
            return sorted(pathlib.Path(n) for n in names if n and (TREE / n).is_file())
    found = (p.relative_to(TREE) for p in TREE.rglob('*') if p.is_file())
    return sorted(p for p in found if not re.match(r'build|\.git/|\.cache/', str(p)) and '__pycache__' not in p.parts)


FILES = files()


def text(path):
    return (TREE / path).read_text(encoding='utf-8', errors='replace')


def sources(*suffixes):
    return [p for p in FILES if p.suffix in suffixes]


def room_of(path):
    return path.parts[1] if path.parts[0] == 'src' else path.parts[0]


def includes(path):
    return re.findall(r'^\s*#\s*include\s+"([^"]+)"', text(path), re.MULTILINE)


@case
def the_top_level_is_what_the_map_says():
    for name in sorted({p.parts[0] for p in FILES} - TOP_LEVEL):
        yield f'{name}: not in the map'


@case
def rooms_include_only_those_above_them():
    for path in sources('.c', '.h'):
        if path.parts[0] not in ('src', 'generators'):
            continue
        room = room_of(path)
        if room not in ROOMS:
            yield f'{path}: the room {room} is not in the table'
            continue
        for name in includes(path):
            other = name.split('/')[0] if '/' in name else room
            if other != room and other not in ROOMS[room]:
                yield f'{path}: {room} must not include "{name}"'


@case
def included_files_are_there():
    for path in sources('.c', '.h'):
        for name in includes(path):
            places = [TREE / 'src' / name, TREE / path.parent / name, TREE / 'generators' / name, TREE / 'tests/unit' / name]
            if not any(p.is_file() for p in places):
                yield f'{path}: there is no "{name}"'


@case
def headers_are_included_once():
    for path in sources('.h'):
        if '#pragma once' not in text(path):
            yield f'{path}: no #pragma once'


@case
def files_are_short_enough_to_read():
    for path in sources('.c', '.h', '.py', '.mjs') + [p for p in FILES if not p.suffix and p.parts[0] != 'LICENSE']:
        lines = text(path).count('\n')
        if lines > LINES_MAX and 'corpus' not in path.parts:
            yield f'{path}: {lines} lines, at most {LINES_MAX}'


def licences_elsewhere():
    """Pattern → licence, from the stanzas of .reuse/dep5 that are for some files only."""
    found = {}
    for stanza in re.split(r'\n\n+', text('.reuse/dep5').strip()):
        fields = dict(re.findall(r'^([A-Za-z-]+):((?:.*\n?)(?:^[ ].*\n?)*)', stanza, re.MULTILINE))
        for pattern in fields.get('Files', '').split():
            if pattern != '*':
                found[pattern] = fields['License'].strip()
    return found


def matches(path, pattern):
    """As REUSE has it: a pattern is for the whole path, and "*" goes through directories."""
    return fnmatch.fnmatchcase(str(path), pattern)


@case
def every_file_says_its_licence():
    elsewhere = licences_elsewhere()
    for path in FILES:
        tag = SPDX in '\n'.join(text(path).splitlines()[:4])
        if not tag and not any(matches(path, p) and licence == LICENCE for p, licence in elsewhere.items()):
            yield f'{path}: no "{SPDX}" in the first lines, and not in .reuse/dep5'


@case
def licences_elsewhere_are_of_files_that_are_there():
    for pattern in licences_elsewhere():
        if not any(matches(path, pattern) for path in FILES):
            yield f'.reuse/dep5: {pattern} matches nothing'


@case
def no_file_has_another_licence():
    for path in FILES:
        for found in re.findall(rf'^\W{{0,6}}{TAG}: *(\S+)', text(path), re.MULTILINE):
            if found != LICENCE:
                yield f'{path}: {found}'


@case
def every_option_of_the_build_is_documented():
    options = set(re.findall(r"^option\('([a-z-]+)'", text('meson_options.txt'), re.MULTILINE))
    rows = re.findall(r'^\| (`-D.*?) \|', text('packaging/FOR-PACKAGERS.md'), re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r'-D([a-z-]+)=', row)} - OPTIONS_OF_MESON
    if not options:
        yield 'meson_options.txt: no option found'
    for name in sorted(options ^ documented):
        yield f'{name}: {"not in FOR-PACKAGERS.md" if name in options else "not in meson_options.txt"}'


@case
def nothing_names_the_machine_it_was_written_on():
    for path in FILES:
        content = text(path)
        yield from (f'{path}: holds {bad!r}' for bad in FORBIDDEN_TEXT if bad in content)


@case
def nothing_is_left_unfinished():
    for path in (p for p in FILES if p.parts[0] != 'tests'):
        for number, line in enumerate(text(path).splitlines(), 1):
            if UNFINISHED.search(line):
                yield f'{path}:{number}: {line.strip()}'


@case
def no_shell_is_called_and_no_path_is_searched():
    for path in sources('.c', '.h'):
        if path.parts[0] not in ('src', 'generators'):
            continue
        for number, line in enumerate(text(path).splitlines(), 1):
            code = re.sub(r'"(\\.|[^"\\])*"', '""', line).split('/*')[0].split('//')[0]
            if not line.lstrip().startswith('*') and SHELL_CALL.search(code):
                yield f'{path}:{number}: {line.strip()}'


@case
def lines_end_plainly():
    for path in sources('.c', '.h', '.py', '.build', '.in', '.md', '.mjs'):
        content = text(path)
        if '\r' in content or (content and not content.endswith('\n')):
            yield f'{path}: carriage returns, or no newline at the end'
        for number, line in enumerate(content.splitlines(), 1):
            if line != line.rstrip() or '\t' in line:
                yield f'{path}:{number}: a tab, or blanks at the end'


@case
def c_is_formatted():
    program = shutil.which('clang-format-14') or shutil.which('clang-format')
    version = program and subprocess.run([program, '--version'], stdout=subprocess.PIPE, text=True, check=True).stdout
    if not version or not re.search(r'version 14\.', version):
        raise Skip('clang-format 14 is not installed')
    done = subprocess.run([program, '--dry-run', *sources('.c', '.h')], cwd=TREE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=True)
    for name in sorted(set(re.findall(r'^(\S+?):\d+:\d+: warning', done.stdout, re.MULTILINE))):
        yield f'{name}: clang-format -i {name}'


def first_line(path):
    return text(path).partition('\n')[0]


@case
def scripts_are_as_shellcheck_wants_them():
    if not shutil.which('shellcheck'):
        raise Skip('shellcheck is not installed')
    for path in (p for p in FILES if re.match(r'#!.*\b(ba)?sh\b', first_line(p))):
        done = subprocess.run(['shellcheck', '--external-sources', '--source-path=SCRIPTDIR', '--severity=warning',
                               '--format=gcc', path], cwd=TREE, stdout=subprocess.PIPE, text=True, check=False)
        yield from done.stdout.splitlines()


@case
def python_is_as_pyflakes_wants_it():
    program = shutil.which('pyflakes3') or shutil.which('pyflakes')
    if not program:
        raise Skip('pyflakes is not installed')
    scripts = [p for p in FILES if p.suffix == '.py' or re.match(r'#!.*\bpython3?\b', first_line(p))]
    done = subprocess.run([program, *scripts], cwd=TREE, stdout=subprocess.PIPE, text=True, check=False)
    yield from done.stdout.splitlines()


if __name__ == '__main__':
    sys.exit(run())
