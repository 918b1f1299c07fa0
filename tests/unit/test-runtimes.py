#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The real runtimes in a home that is empty, each without a manifest and with one that grants next to nothing.

  test-runtimes.py MCP-SANDBOX             those that distributions have
  test-runtimes.py MCP-SANDBOX DIRECTORY   those that npm has, from where it put their programs

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
OF_NPM = sys.argv[2] if len(sys.argv) > 2 else None
PATH = f'{OF_NPM}:/usr/bin:/bin' if OF_NPM else '/usr/bin:/bin'
GO_MODULE = 'up.example/mcp'
WHEELS = pathlib.Path('/usr/share/python-wheels')  # where distributions keep pip itself
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


def go_module():
    data = io.BytesIO()
    with zipfile.ZipFile(data, 'w') as z:
        z.writestr(f'{GO_MODULE}@v1.0.0/go.mod', f'module {GO_MODULE}\n')
        z.writestr(f'{GO_MODULE}@v1.0.0/main.go', 'package main\n\nfunc main() { println("up") }\n')
    return data.getvalue()


# Once: their dates are in them.
TARBALL, WHEEL, GO_ZIP = npm_tarball(), wheel(), go_module()


def of_pip(path):
    """pip for a shared environment of pipx, from the distribution's wheels."""
    name = path.strip('/').rpartition('/')[2]
    if path.startswith('/simple/'):
        return 'text/html', ''.join(f'<a href="/{w.name}">{w.name}</a>' for w in WHEELS.glob(f'{name}-*.whl')).encode()
    return 'application/octet-stream', (WHEELS / name).read_bytes()


class Registry(http.server.BaseHTTPRequestHandler):
    """npm's, PyPI's and Go's ways of asking, in that order."""

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
            f'/{GO_MODULE}/@v/v1.0.0.info': ('application/json', b'{"Version":"v1.0.0"}'),
            f'/{GO_MODULE}/@v/v1.0.0.mod': ('text/plain', f'module {GO_MODULE}\n'.encode()),
            f'/{GO_MODULE}/@v/v1.0.0.zip': ('application/zip', GO_ZIP),
        }
        kind, body = answers.get(self.path, (None, b''))
        if not kind and (self.path.startswith('/simple/') or self.path.endswith('.whl')):
            kind, body = of_pip(self.path)
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

    def says(self, argv, ports=None, manifest=False, env=None, given=None):
        """What a command says, once; ports are those that it may connect to, given is the server's own environment."""
        options = [f'--env={name}={value}' for name, value in (given or {}).items()]
        if manifest:
            network = {'mode': 'blocked'} | ({'ports': {'connect': ports}} if ports else {})
            path = self.top / 'manifest.json'
            path.write_text(json.dumps({'version': '0.1.0', 'network': network}))
            options.append(f'--manifest={path}')
        done = subprocess.run(
            [SANDBOX, *options, '--', *map(str, argv)], check=False, capture_output=True, text=True, cwd=self.work,
            timeout=300, env={'HOME': str(self.home), 'PATH': PATH, 'LANG': 'C.UTF-8', 'TMPDIR': str(self.top / 'tmp'),
                              'ASAN_OPTIONS': 'detect_leaks=0', **(env or {})})  # fmt: skip
        assert done.returncode == 0, f'{argv}: exit status {done.returncode}:\n{done.stdout}{done.stderr}'
        return (done.stdout.strip() or done.stderr.strip()).splitlines()[-1]

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


def both(function, of_npm=False):
    """Registers a case without a manifest, and one with."""
    for manifest in (False, True) if of_npm == bool(OF_NPM) else ():

        def one(manifest=manifest):
            needs_landlock(4 if manifest else 1)
            with world() as w:
                function(w, manifest)

        one.__name__ = f'{function.__name__}_{"with" if manifest else "without"}_a_manifest'
        case(one)


def both_of_npm(function):
    both(function, of_npm=True)


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
def pipx_runs_once_it_has_its_shared_environment(w, manifest):
    """That one is imported by every program that pipx has installed, so no server makes or changes it."""
    pipx = needs('pipx')
    with registry() as port:
        given = {'PIP_INDEX_URL': f'http://127.0.0.1:{port}/simple/', 'PIP_DISABLE_PIP_VERSION_CHECK': '1'}
        outside = {**os.environ, **given, 'HOME': str(w.home), 'PATH': PATH}
        subprocess.run([pipx, 'run', 'up-mcp'], check=True, env=outside, capture_output=True)
        for cache in w.home.glob('**/.cache'):
            shutil.rmtree(cache)
            cache.mkdir()
        shared = next(w.home.glob('.local/**/shared'))
        assert w.says(['pipx', 'run', 'up-mcp'], [port], manifest, given=given) == 'up'
    planted = f'try:\n open("{shared}/planted", "w")\nexcept OSError as e:\n print(e.strerror)'
    assert w.says(['python3', '-c', planted], None, manifest) == 'Permission denied'


@both
def go_fills_its_caches_and_runs(w, manifest):
    needs('go')
    with registry() as port:
        given = {'GOPROXY': f'http://127.0.0.1:{port}', 'GONOSUMDB': '*', 'GONOSUMCHECK': '1', 'GOFLAGS': '-modcacherw'}
        assert w.says(['go', 'run', f'{GO_MODULE}@v1.0.0'], [port], manifest, given=given) == 'up'
    assert (w.home / '.cache/go-build').is_dir() and (w.home / 'go/pkg/mod').is_dir()


@both_of_npm
def bunx_fills_its_cache_and_runs(w, manifest):
    needs('bunx')
    with registry() as port:
        assert w.says(['bunx', 'up-mcp'], [port], manifest, given={'NPM_CONFIG_REGISTRY': f'http://127.0.0.1:{port}/'}) == 'up'


@both_of_npm
def deno_fills_its_cache_and_runs(w, manifest):
    needs('deno')
    with registry() as port:
        given = {'NPM_CONFIG_REGISTRY': f'http://127.0.0.1:{port}/'}
        assert w.says(['deno', 'run', '-A', 'npm:up-mcp@1.0.0'], [port], manifest, given=given) == 'up'
    assert (w.home / '.cache/deno').is_dir()


@both_of_npm
def pnpm_fills_its_store_and_runs(w, manifest):
    """It locks its store in /tmp, whatever TMPDIR says."""
    needs('pnpm')
    with registry() as port:
        given = {'pnpm_config_registry': f'http://127.0.0.1:{port}/'}
        assert w.says(['pnpm', 'dlx', 'up-mcp'], [port], manifest, {'TMPDIR': '/tmp'}, given) == 'up'
    assert (w.home / '.local/share/pnpm/store').is_dir()


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
