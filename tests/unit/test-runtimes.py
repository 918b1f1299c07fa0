#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The real runtimes in a home that is empty, each without a manifest and with one that grants next to nothing.

  test-runtimes.py MCP-SANDBOX

What they would download comes from a registry on the loopback.
"""

import base64
import contextlib
import ctypes
import hashlib
import http.server
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tree'))
from cases import Skip, case, run  # noqa: E402 pylint: disable=wrong-import-position

SANDBOX = pathlib.Path(sys.argv[1]).resolve()
PATH = '/usr/bin:/bin'
NODE_SERVER = '#!/usr/bin/env node\nconsole.log("up");\n'


def needs(program):
    found = shutil.which(program, path=PATH)
    if not found:
        raise Skip(f'{program} is not installed')
    return pathlib.Path(found)


def needs_landlock(abi):
    if ctypes.CDLL(None).syscall(444, None, 0, 1) < abi:  # landlock_create_ruleset(NULL, 0, VERSION)
        raise Skip(f'needs Landlock ABI {abi}')


# -- a registry of one package each ------------------------------------------------------


def npm_tarball():
    data = io.BytesIO()
    package = json.dumps({'name': 'up-mcp', 'version': '1.0.0', 'bin': {'up-mcp': 'server.js'}}).encode()
    with tarfile.open(fileobj=data, mode='w:gz') as tar:
        for name, content in (('package.json', package), ('server.js', NODE_SERVER.encode())):
            info = tarfile.TarInfo(f'package/{name}')
            info.size, info.mode = len(content), 0o755
            tar.addfile(info, io.BytesIO(content))
    return data.getvalue()


def wheel():
    data = io.BytesIO()
    info = 'up_mcp-1.0.0.dist-info'
    with zipfile.ZipFile(data, 'w') as z:
        z.writestr('up_mcp.py', 'def main():\n    print("up")\n')
        z.writestr(f'{info}/METADATA', 'Metadata-Version: 2.1\nName: up-mcp\nVersion: 1.0.0\n')
        z.writestr(f'{info}/WHEEL', 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
        z.writestr(f'{info}/entry_points.txt', '[console_scripts]\nup-mcp = up_mcp:main\n')
        z.writestr(f'{info}/RECORD', f'up_mcp.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/entry_points.txt,,\n{info}/RECORD,,\n')
    return data.getvalue()


# Once: their dates are in them.
TARBALL, WHEEL = npm_tarball(), wheel()


class Registry(http.server.BaseHTTPRequestHandler):
    """npm's and PyPI's ways of asking, in that order."""

    def do_GET(self):
        at = f'http://127.0.0.1:{self.server.server_port}'
        integrity = 'sha512-' + base64.b64encode(hashlib.sha512(TARBALL).digest()).decode()
        version = {'name': 'up-mcp', 'version': '1.0.0', 'bin': {'up-mcp': 'server.js'},
                   'dist': {'tarball': f'{at}/up-mcp.tgz', 'integrity': integrity}}
        answers = {
            '/up-mcp': ('application/json', json.dumps(
                {'name': 'up-mcp', 'dist-tags': {'latest': '1.0.0'}, 'versions': {'1.0.0': version}}).encode()),
            '/up-mcp.tgz': ('application/octet-stream', TARBALL),
            '/simple/up-mcp/': ('text/html', b'<a href="/up_mcp-1.0.0-py3-none-any.whl">up_mcp-1.0.0-py3-none-any.whl</a>'),
            '/up_mcp-1.0.0-py3-none-any.whl': ('application/octet-stream', WHEEL),
        }
        kind, body = answers.get(self.path, (None, b''))
        self.send_response(200 if kind else 404)
        self.send_header('Content-Type', kind or 'text/plain')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def registry():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Registry)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


# -- running -----------------------------------------------------------------------------


class World:
    """A home with nothing in it, and a directory to work in."""

    def __init__(self, top):
        self.top = top
        self.home, self.work, self.elsewhere = (top / name for name in ('home', 'work', 'elsewhere'))
        for directory in (self.home, self.work, self.elsewhere, top / 'tmp'):
            directory.mkdir()

    def says(self, argv, ports=None, manifest=False, env=None):
        """What a command says, once; ports are those that it may connect to."""
        options = []
        if manifest:
            network = {'mode': 'blocked'} | ({'ports': {'connect': ports}} if ports else {})
            path = self.top / 'manifest.json'
            path.write_text(json.dumps({'version': '0.1.0', 'network': network}))
            options = [f'--manifest={path}']
        done = subprocess.run(
            [SANDBOX, *options, '--', *map(str, argv)], check=False, capture_output=True, text=True, cwd=self.work,
            timeout=300, env={'HOME': str(self.home), 'PATH': PATH, 'LANG': 'C.UTF-8', 'TMPDIR': str(self.top / 'tmp'),
                              'ASAN_OPTIONS': 'detect_leaks=0', **(env or {})})  # fmt: skip
        assert done.returncode == 0, f'{argv}: exit status {done.returncode}:\n{done.stdout}{done.stderr}'
        return done.stdout.strip().splitlines()[-1]

    def program(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path


@contextlib.contextmanager
def world():
    # Not below /tmp, which the baseline may grant.
    top = pathlib.Path(tempfile.mkdtemp(dir='/var/tmp', prefix='mcp-test-'))
    try:
        yield World(top)
    finally:
        shutil.rmtree(top, ignore_errors=True)


def both(function):
    """Registers a case without a manifest, and one with."""
    for manifest in (False, True):

        def one(manifest=manifest):
            needs_landlock(4 if manifest else 1)
            with world() as w:
                function(w, manifest)

        one.__name__ = f'{function.__name__}_{"with" if manifest else "without"}_a_manifest'
        case(one)


@both
def npx_fills_its_cache_and_runs(w, manifest):
    needs('npx')
    with registry() as port:
        argv = ['npx', f'--registry=http://127.0.0.1:{port}/', '-y', 'up-mcp']
        assert w.says(argv, [port], manifest) == 'up'
        assert (w.home / '.npm/_npx').is_dir()
        assert w.says([*argv[:1], '--offline', *argv[1:]], [port], manifest) == 'up'


@both
def npm_installs_where_it_may_write(w, manifest):
    needs('npm')
    with registry() as port:
        w.says(['npm', 'install', f'--registry=http://127.0.0.1:{port}/', 'up-mcp'], [port], manifest)
    assert (w.work / 'node_modules/up-mcp/server.js').exists()
    assert w.says([w.work / 'node_modules/.bin/up-mcp'], None, manifest) == 'up'


@both
def uvx_fills_its_cache_and_runs(w, manifest):
    needs('uvx')
    with registry() as port:
        argv = ['uvx', '--default-index', f'http://127.0.0.1:{port}/simple/', '--no-python-downloads', 'up-mcp']
        assert w.says(argv, [port], manifest) == 'up'
        assert (w.home / '.cache/uv').is_dir()


@both
def a_virtual_environment_elsewhere(w, manifest):
    """Its interpreter is a link, and what it imports lies beside it."""
    python = needs('python3')
    subprocess.run([python, '-m', 'venv', '--without-pip', w.elsewhere / 'venv'], check=True)
    (site,) = (w.elsewhere / 'venv/lib').glob('python3*/site-packages')
    (site / 'up_mcp.py').write_text('print("up")\n')
    script = w.program(w.elsewhere / 'venv/bin/up-mcp', f'#!{w.elsewhere}/venv/bin/python3\nimport up_mcp\n')
    assert w.says([script], None, manifest) == 'up'


@both
def an_interpreter_behind_env(w, manifest):
    needs('node')
    assert w.says([w.program(w.elsewhere / 'app/bin/server', NODE_SERVER)], None, manifest) == 'up'


@both
def a_shim_that_is_a_link(w, manifest):
    """From ~/.local/bin to where the program is installed with what it needs."""
    needs('node')
    program = w.program(w.elsewhere / 'app/bin/server', '#!/usr/bin/env node\nconsole.log(require("../lib/say"));\n')
    (w.elsewhere / 'app/lib').mkdir()
    (w.elsewhere / 'app/lib/say.js').write_text('module.exports = "up";\n')
    (w.home / '.local/bin').mkdir(parents=True)
    (w.home / '.local/bin/up-mcp').symlink_to(program)
    assert w.says(['up-mcp'], None, manifest) == 'up'


@both
def a_version_managers_node(w, manifest):
    """Found without a shell that has read nvm.sh, and with the modules of that version."""
    versions = w.home / '.nvm/versions/node/v1.2.3'
    (versions / 'bin').mkdir(parents=True)
    shutil.copy(needs('node').resolve(), versions / 'bin/node')
    (w.home / '.nvm/alias').mkdir()
    (w.home / '.nvm/alias/default').write_text('v1.2.3\n')
    w.program(versions / 'lib/node_modules/up-mcp/server.js', NODE_SERVER.replace('"up"', 'process.execPath'))
    (versions / 'bin/up-mcp').symlink_to('../lib/node_modules/up-mcp/server.js')
    assert w.says([versions / 'bin/up-mcp'], None, manifest, env={'PATH': f'{versions}/bin:{PATH}'}) == str(versions / 'bin/node')


@both
def a_version_managers_shim(w, manifest):
    """pyenv's and asdf's are shell scripts that look for the version, then execute it."""
    python = needs('python3')
    root = w.home / '.pyenv'
    (root / 'versions/3.99/bin').mkdir(parents=True)
    (root / 'versions/3.99/bin/python3.99').symlink_to(python.resolve())
    (root / 'version').write_text('3.99\n')
    shim = w.program(root / 'shims/python3.99',
                     f'#!/bin/sh\nread -r v <{root}/version\nexec {root}/versions/$v/bin/python3.99 "$@"\n')  # fmt: skip
    assert w.says([shim, '-c', 'print("up")'], None, manifest) == 'up'


@both
def a_plain_binary(w, manifest):
    server = w.elsewhere / 'server'
    shutil.copy('/bin/echo', server)
    assert w.says([server, 'up'], None, manifest) == 'up'


if __name__ == '__main__':
    os.umask(0o022)
    sys.exit(run())
