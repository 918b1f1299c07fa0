#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What "meson install" puts where: as a distribution's packager would want it.

  test-install.py MESON BUILD-DIR NAME=DIRECTORY …   (bindir, libexecdir, mandir, systemunitdir …)
"""

import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile

from cases import case, run

MESON, BUILD = sys.argv[1], sys.argv[2]
DIRS = dict(arg.split('=', 1) for arg in sys.argv[3:])
DESTINATION = tempfile.TemporaryDirectory(prefix='mcp-install-')
TOP = pathlib.Path(DESTINATION.name)

# Every program, where it is, and the section of its man page.
PROGRAMS = {
    'mcp-connect': ('bindir', 1),
    'mcp-sandbox': ('bindir', 1),
    'mcpctl': ('bindir', 1),
    'mcp-supervisor': ('libexecdir', 8),
    'mcp-demo-server': ('libexecdir', 8),
    'mcp-server-generator': ('systemgeneratordir', 8),
}

# What is no program and has to be there.
DATA = (
    ('systemunitdir', 'mcp-server@.service'),
    ('systemunitdir', 'mcp-server-unserved@.service'),
    ('systemunitdir', 'mcp.slice'),
    ('userunitdir', 'mcp-server@.service'),
    ('userunitdir', 'mcp-server-unserved@.service'),
    ('userunitdir', 'mcp.slice'),
    ('usergeneratordir', 'mcp-server-generator'),
    ('catalogdir', 'mcp-systemd.catalog'),
    ('sysusersdir', 'mcp-systemd.conf'),
    ('tmpfilesdir', 'mcp-systemd.conf'),
    ('polkitrulesdir', 'mcp-systemd.rules'),
)

# Where files may be at all.
PLACES = ('bindir', 'libexecdir', 'mandir', 'datadir', *sorted(d for d in DIRS if d.endswith(('unitdir', 'generatordir'))),
          'catalogdir', 'sysusersdir', 'tmpfilesdir', 'polkitrulesdir')


def installed():
    """Path inside the image → path in the destination, for everything but directories."""
    return {'/' + str(p.relative_to(TOP)): p for p in sorted(TOP.rglob('*')) if p.is_symlink() or not p.is_dir()}


def is_program(path):
    return path.is_file() and not path.is_symlink() and path.read_bytes()[:4] == b'\x7fELF'


def built_programs():
    """Those of PROGRAMS that this build makes."""
    return {name: where for name, where in PROGRAMS.items()
            if any(p.is_file() for p in pathlib.Path(BUILD).glob(f'**/{name}') if not p.is_dir())}


@case
def everything_is_in_a_place_for_its_kind():
    places = [DIRS[name] + '/' for name in PLACES]
    for path in installed():
        if not any(path.startswith(place) for place in places):
            yield f'{path}: not below one of the directories that meson.build lists'


@case
def programs_are_where_their_callers_look():
    for name, (directory, _) in built_programs().items():
        path = TOP / f'{DIRS[directory]}/{name}'.lstrip('/')
        if not is_program(path) or not os.access(path, os.X_OK):
            yield f'{DIRS[directory]}/{name}: not there, or not executable'


@case
def no_program_is_installed_that_nobody_knows():
    for path, real in installed().items():
        if is_program(real) and real.name not in PROGRAMS:
            yield f'{path}: not in the table of programs'


@case
def every_program_has_a_man_page():
    for name, (_, section) in built_programs().items():
        page = TOP / f'{DIRS["mandir"]}/man{section}/{name}.{section}'.lstrip('/')
        if not page.is_file():
            yield f'{name}: no {page.name}'
            continue
        content = page.read_text(encoding='utf-8')
        yield from (f'{page.name}: no section {s}' for s in ('NAME', 'SYNOPSIS', 'DESCRIPTION', 'SEE ALSO')
                    if not re.search(rf'^\.S[Hh] "?{s}"?$', content, re.MULTILINE))


@case
def units_and_settings_are_there():
    for directory, name in DATA:
        path = f'{DIRS[directory]}/{name}'
        if path not in installed():
            yield f'{path}: not there'


@case
def the_polkit_rule_is_where_polkit_looks():
    if DIRS['polkitrulesdir'] not in ('/usr/share/polkit-1/rules.d', '/etc/polkit-1/rules.d'):
        yield f'{DIRS["polkitrulesdir"]}: polkit does not read it'


@case
def both_managers_run_one_generator():
    link = TOP / f'{DIRS["usergeneratordir"]}/mcp-server-generator'.lstrip('/')
    target = os.readlink(link)
    real = TOP / target.lstrip('/') if target.startswith('/') else link.parent / target
    if not is_program(real):
        yield f'{link.name} → {target}: leads nowhere'


@case
def nothing_is_writable_or_privileged():
    for path, real in installed().items():
        mode = real.lstat().st_mode
        if not stat.S_ISLNK(mode) and mode & (stat.S_ISUID | stat.S_ISGID | stat.S_IWGRP | stat.S_IWOTH):
            yield f'{path}: mode {stat.S_IMODE(mode):o}'


@case
def templates_are_filled_in():
    for path, real in installed().items():
        if real.suffix in ('.service', '.socket', '.slice', '.conf') and re.search(r'@[A-Z_]+@', real.read_text()):
            yield f'{path}: a placeholder is left'


@case
def nothing_holds_the_path_of_the_build():
    needles = [os.path.realpath(BUILD).encode() + b'/', str(TOP).encode()]
    for path, real in installed().items():
        if real.is_symlink() or is_program(real):  # programs: debug information has it, and is stripped by packagers
            continue
        content = real.read_bytes()
        yield from (f'{path}: holds {n.decode()}' for n in needles if n in content)


def main():
    os.umask(0o022)
    done = subprocess.run([MESON, 'install', '-C', BUILD, '--no-rebuild', '--destdir', TOP], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        print(f'Bail out! meson install failed: {done.stdout.splitlines()[-1:]}')
        return 1
    return run()


if __name__ == '__main__':
    sys.exit(main())
