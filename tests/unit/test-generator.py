#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The generator, run on trees made for it: what it writes, what it must not, and what systemd says to it.

  test-generator.py GENERATOR BUILD-DIR
"""

import contextlib
import ctypes
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'tree'))
from cases import Skip, case, run  # noqa: E402 pylint: disable=wrong-import-position

GENERATOR, BUILD = (pathlib.Path(p).resolve() for p in sys.argv[1:3])
SOURCE = pathlib.Path(__file__).resolve().parents[2]
HOME = '/home/someone'
SERVER = {'command': '/bin/true'}

# What somebody would write to get more out of a unit than a value.
HOSTILE = [
    'x\nExecStartPre=/bin/touch /pwned', 'x\r\n[Service]\r\nUser=root', '%h%n%%', '$HOME ${HOME} `id` $(id)', 'back\\slash\\',
    '"quote\' "', '\x1b[31m\x07', 'ünï', '; #', ' blank ', '..%2f', '\\\n', '-e', '@:+!x', 'x' * 300,
]


class World:
    """A root directory with definitions, and where the units go."""

    def __init__(self, scope, top):
        self.scope = scope
        self.root = top / 'root'
        self.servers = self.root / ('etc/mcp/servers.d' if scope == 'system' else f'{HOME[1:]}/.config/mcp/servers.d')
        self.servers.mkdir(parents=True)
        self.dirs = [top / name for name in ('normal', 'early', 'late')]
        for directory in self.dirs:
            directory.mkdir()
        self.out = self.dirs[0]

    def define(self, name, definition, directory=None):
        path = (self.root / directory if directory else self.servers) / f'{name}.json'
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(definition if isinstance(definition, str) else json.dumps(definition))
        return path

    def client_file(self, content):
        (self.servers.parent / 'mcp.json').write_text(json.dumps(content))

    def generate(self, *, status=0, env=None, **kwargs):
        done = subprocess.run([GENERATOR, f'--root={self.root}', *self.dirs], check=False, stderr=subprocess.PIPE,
                              text=True, errors='replace',
                              env={'SYSTEMD_SCOPE': self.scope, 'HOME': HOME, 'PATH': '/nowhere', **(env or {})}, **kwargs)
        assert done.returncode == status, f'exit status {done.returncode}: {done.stderr}'
        return done.stderr

    def files(self):
        return sorted(str(p.relative_to(self.out)) for p in self.out.rglob('*') if p.is_symlink() or p.is_file())

    def instances(self):
        return sorted(m[1] for name in self.files() if (m := re.fullmatch(r'mcp-server@(.*)\.socket', name)))

    def socket(self, instance):
        return (self.out / f'mcp-server@{instance}.socket').read_text()

    def drop_in(self, instance):
        return (self.out / f'mcp-server@{instance}.service.d/50-definition.conf').read_text()

    def wanted(self, instance):
        link = self.out / f'sockets.target.wants/mcp-server@{instance}.socket'
        assert not link.is_symlink() or link.resolve() == (self.out / link.name).resolve(), f'{link} leads elsewhere'
        return link.is_symlink()


@contextlib.contextmanager
def world(scope='system'):
    with tempfile.TemporaryDirectory(prefix='mcp-generator-') as top:
        yield World(scope, pathlib.Path(top))


def settings(text):
    """[(section, key, value)] as systemd reads it, line by line; anything else that is no comment is an error."""
    found, section = [], None
    for line in text.split('\n'):
        assert not line.endswith('\\'), f'a continued line: {line!r}'
        assert not re.search(r'[\x00-\x1f\x7f]', line), f'a control character: {line!r}'
        if match := re.fullmatch(r'\[(\w+)\]', line):
            section = match[1]
        elif line and not line.startswith('#'):
            key, equals, value = line.partition('=')
            assert section and equals, f'no setting: {line!r}'
            found.append((section, key, value))
    return found


def value(text, key):
    values = [v for _, k, v in settings(text) if k == key]
    return values[0] if len(values) == 1 else values


def expect_equal(got, wanted, what):
    assert got == wanted, f'{what}: expected {wanted!r}, got {got!r}'


@case
def a_system_server_gets_a_socket_a_drop_in_and_a_link():
    with world() as w:
        w.define('demo', SERVER)
        expect_equal(w.generate(), '', 'stderr')
        expect_equal(w.files(), ['mcp-server@demo.service.d/50-definition.conf', 'mcp-server@demo.socket',
                                 'sockets.target.wants/mcp-server@demo.socket'], 'files')
        text = w.socket('demo')
        for key, wanted in (('ListenStream', '%t/mcp/%i.sock'), ('ListenSequentialPacket', '%t/mcp/%i.connect'),
                            ('SocketMode', '0660'), ('SocketGroup', []), ('RemoveOnStop', 'yes'),
                            ('TriggerLimitIntervalSec', '0'), ('StartLimitIntervalSec', '0'),
                            ('FileDescriptorName', 'mcp'), ('SourcePath', '/etc/mcp/servers.d/demo.json')):
            expect_equal(value(text, key), wanted, key)
        text = w.drop_in('demo')
        expect_equal(value(text, 'User'), 'mcp-demo', 'User')
        expect_equal(value(text, 'DynamicUser'), [], 'DynamicUser')
        expect_equal(value(text, 'TimeoutStopSec'), '30s', 'TimeoutStopSec')
        for directory in w.dirs[1:]:
            expect_equal(list(directory.iterdir()), [], f'{directory.name} directory')


@case
def a_users_server_is_for_that_user_alone():
    with world('user') as w:
        w.define('demo', {**SERVER, 'access': {'groups': ['staff']}})
        w.generate()
        expect_equal(value(w.socket('demo'), 'SocketMode'), '0600', 'SocketMode')
        expect_equal(value(w.socket('demo'), 'SocketGroup'), [], 'SocketGroup')
        expect_equal({key for _, key, _ in settings(w.drop_in('demo'))}, {'Description', 'SourcePath', 'TimeoutStopSec'},
                     'settings of the drop-in')
        expect_equal(value(w.drop_in('demo'), 'SourcePath'), f'{HOME}/.config/mcp/servers.d/demo.json', 'SourcePath')


@case
def access_decides_mode_and_group():
    for access, mode, group in (
            (None, '0660', []), ({'groups': ['staff']}, '0660', 'staff'), ({'groups': ['a', 'b']}, '0666', []),
            ({'users': ['alice']}, '0666', []), ({'users': ['alice'], 'groups': ['staff']}, '0666', [])):
        with world() as w:
            w.define('demo', {**SERVER, **({'access': access} if access else {})})
            w.generate()
            expect_equal((value(w.socket('demo'), 'SocketMode'), value(w.socket('demo'), 'SocketGroup')), (mode, group),
                         f'access {access}')


@case
def a_disabled_server_is_not_wanted_and_a_masked_one_is_not_there():
    with world() as w:
        w.define('off', {**SERVER, 'enabled': False})
        w.define('quarantined', {**SERVER, 'quarantined': True})
        w.define('empty', '')
        w.define('shadowed', SERVER, 'usr/lib/mcp/servers.d')
        (w.servers / 'shadowed.json').symlink_to('/dev/null')
        w.generate()
        expect_equal(w.instances(), ['off', 'quarantined'], 'servers')
        expect_equal([w.wanted('off'), w.wanted('quarantined')], [False, True], 'links')


@case
def the_strongest_directory_wins():
    with world() as w:
        for n, directory in enumerate(('etc/mcp/servers.d', 'run/mcp/servers.d', 'usr/lib/mcp/servers.d')):
            for name in 'abc'[:n + 1]:
                w.define(name, SERVER, directory)
        w.generate()
        expect_equal([value(w.socket(i), 'SourcePath') for i in 'abc'],
                     [f'/{d}/mcp/servers.d/{n}.json' for n, d in (('a', 'etc'), ('b', 'run'), ('c', 'usr/lib'))], 'sources')


@case
def a_wrong_definition_keeps_its_units_and_costs_no_other():
    with world() as w:
        w.define('good', SERVER)
        w.define('broken', '{"command": ')
        w.define('unknown', {**SERVER, 'isolation': {'netwrok': 'blocked'}})
        w.define('binary', '\udcff\0'.encode('utf-8', 'surrogateescape').decode('latin-1'))
        (w.servers / 'directory.json').mkdir()
        os.mkfifo(w.servers / 'fifo.json')
        stderr = w.generate()
        for name in ('good', 'broken', 'unknown'):
            assert name in w.instances() and w.wanted(name), f'{name} has no units'
        for name in ('broken', 'unknown'):
            assert f'/{name}.json:' in stderr, f'{name} is not named: {stderr}'
        assert 'good.json' not in stderr, stderr
        expect_equal(value(w.drop_in('broken'), 'User'), 'mcp-broken', 'User')


@case
def a_client_file_defines_servers_too():
    with world('user') as w:
        w.client_file({'mcpServers': {'files': SERVER, 'far': {'url': 'https://example.com/mcp'}, 'both': {'command': '/bin/a'}}})
        w.define('both', SERVER)
        w.generate()
        expect_equal(w.instances(), ['both', 'files'], 'servers')
        expect_equal(value(w.socket('both'), 'SourcePath'), f'{HOME}/.config/mcp/servers.d/both.json', 'SourcePath')
        expect_equal(value(w.socket('files'), 'SourcePath'), f'{HOME}/.config/mcp/mcp.json', 'SourcePath')


@case
def a_broken_client_file_costs_its_servers_alone():
    with world() as w:
        (w.servers.parent / 'mcp.json').write_text('{"mcpServers": {')
        w.define('good', SERVER)
        stderr = w.generate()
        expect_equal(w.instances(), ['good'], 'servers')
        assert 'mcp.json:' in stderr, stderr


@case
def two_files_of_one_unit_are_an_error_that_names_both():
    with world() as w:
        w.define('a b', SERVER)
        w.define('a\\x20b', SERVER)
        stderr = w.generate()
        expect_equal(w.instances(), ['a\\x20b'], 'servers')
        assert 'a b.json' in stderr and 'x20b.json' in stderr, stderr


@case
def values_cannot_become_settings():
    allowed = {'Description', 'SourcePath', 'User', 'DynamicUser', 'ProtectHome', 'TimeoutStopSec', 'ReadWritePaths', 'BindPaths',
               'Documentation', 'StartLimitIntervalSec', 'ListenStream', 'ListenSequentialPacket', 'FileDescriptorName',
               'SocketMode', 'SocketGroup', 'DirectoryMode', 'RemoveOnStop', 'TriggerLimitIntervalSec', 'Slice'}
    for text in HOSTILE:
        with world() as w:
            w.client_file({'mcpServers': {text[:40]: SERVER, 'plain': {'command': text}}})
            w.define('values', {**SERVER, 'user': text, 'working_dir': f'/srv/{text}', 'args': [text], 'env': {'A': text},
                                'access': {'groups': [text]}, 'isolation': {'write': [f'/srv/{text}', text]}})
            w.generate()
            assert 'values' in w.instances(), w.files()
            for instance in w.instances():
                assert re.fullmatch(r'([A-Za-z0-9_.:-]|\\x[0-9a-f]{2})+', instance), f'instance {instance!r}'
                for _, key, got in settings(w.socket(instance)) + settings(w.drop_in(instance)):
                    assert key in allowed, f'{text!r} became {key}={got}'
                    rest = got.replace('%%', '').replace('%t/mcp/%i.', '')
                    assert '%' not in rest, f'{text!r}: a specifier in {key}={got}'
                assert value(w.drop_in(instance), 'User') == 'mcp-values' or instance != 'values', w.drop_in(instance)


@case
def no_secret_is_in_a_unit():
    with world() as w:
        w.define('demo', {'command': '/bin/canary-1', 'args': ['canary-2'], 'env': {'TOKEN': 'canary-3'}})
        w.generate()
        text = w.socket('demo') + w.drop_in('demo')
        assert 'canary' not in text and 'TOKEN' not in text, text


def store(w, path, mode=0o600):
    file = w.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('canary')
    file.chmod(mode)


def credentials(w, names, env=None):
    w.define('demo', {**SERVER, 'credentials': {f'V{n}': name for n, name in enumerate(names)}})
    expect_equal(w.generate(env=env), '', 'stderr')
    assert 'canary' not in w.drop_in('demo'), w.drop_in('demo')
    return [(k, v) for _, k, v in settings(w.drop_in('demo')) if k.startswith('LoadCredential')]


@case
def the_system_manager_finds_credentials_itself():
    with world() as w:
        for path in ('etc/credstore/plain', 'usr/lib/credstore/both', 'etc/credstore.encrypted/both', 'run/credstore.encrypted/secret'):
            store(w, path)
        expect_equal(credentials(w, ('plain', 'both', 'secret', 'none')),
                     [('LoadCredential', 'plain'), ('LoadCredential', 'both'), ('LoadCredentialEncrypted', 'secret'),
                      ('LoadCredential', 'none')], 'settings')


@case
def a_users_credentials_are_loaded_where_they_are():
    with world('user') as w:
        for path in (f'{HOME[1:]}/.config/credstore/config', 'run/user/7/credstore/config', 'run/user/7/credstore/runtime',
                     'etc/credstore/system'):
            store(w, path)
        expect_equal(credentials(w, ('config', 'runtime', 'system', 'none'), {'XDG_RUNTIME_DIR': '/run/user/7'}),
                     [('LoadCredential', f'config:{HOME}/.config/credstore/config'),
                      ('LoadCredential', 'runtime:/run/user/7/credstore/runtime')], 'settings')
    with world('user') as w:
        odd = '/run/a %h "b\\'
        store(w, 'run/100%/x y/credstore/token')
        store(w, f'{odd[1:]}/credstore/token')
        expect_equal(credentials(w, ('token',), {'XDG_RUNTIME_DIR': odd}), [], 'a path that a unit cannot name')
        shutil.rmtree(w.out)
        w.out.mkdir()
        expect_equal(credentials(w, ('token',), {'XDG_RUNTIME_DIR': '/run/100%/x y'}),
                     [('LoadCredential', 'token:/run/100%%/x y/credstore/token')], 'a path with a percent sign')


@case
def names_that_are_no_credentials_are_in_no_unit():
    for name in ('a b', 'a:/etc/shadow', '../x', '%h', 'a\\x2f', '"a"', "a'", 'ü', '', 'a\nExecStartPre=/bin/true'):
        with world() as w:
            w.define('demo', {**SERVER, 'credentials': {'A': name, 'B': 'good'}})
            assert 'MCP-C-CREDENTIAL' in w.generate() or not name, name
            expect_equal(value(w.drop_in('demo'), 'LoadCredential'), 'good', repr(name))


@case
def what_may_be_written_is_writable_in_the_system_manager():
    with world() as w:
        w.define('demo', {**SERVER, 'working_dir': '/srv/pro ject', 'stop': {'eof_grace': '1s', 'kill_after': '4s'},
                          'isolation': {'write': ['/srv/100%/"q"', '~/x', '${DIR}/y', '/srv/../etc', '/var/tmp/a b', '/tmp/c:/etc']}})
        stderr = w.generate()
        expect_equal(value(w.drop_in('demo'), 'ReadWritePaths'), ['"-/srv/pro ject"', '"-/srv/100%%/\\"q\\""'], 'paths')
        expect_equal(value(w.drop_in('demo'), 'BindPaths'), '"-/var/tmp/a b"', 'paths that PrivateTmp hides')
        expect_equal(value(w.drop_in('demo'), 'TimeoutStopSec'), '20s', 'TimeoutStopSec')
        assert '/isolation/write/3' in stderr and '1 more' in stderr, stderr


MANIFEST = {'version': '0.1.0', 'filesystem': {'grants': [
    {'path': '/srv/in', 'access': 'read'}, {'path': '/srv/out', 'access': 'write'}, {'path': '$WORKDIR/rw', 'access': 'readwrite'},
    {'path': '~/own', 'access': 'readwrite'}]}}


@case
def a_manifests_write_grants_are_writable():
    with world() as w:
        (w.servers / 'grants.manifest').write_text(json.dumps(MANIFEST))
        (w.servers / 'wrong.manifest').write_text('{}')
        # Nobody knows the user yet; the other paths are known all the same.
        with_uid = {**MANIFEST, 'filesystem': {'grants': [{'path': '/srv/$UID', 'access': 'write'},
                                                          *MANIFEST['filesystem']['grants']]}}
        for name, manifest in (('inline', MANIFEST), ('uid', with_uid), ('beside', 'grants.manifest'), ('wrong', 'wrong.manifest'),
                               ('absolute', '/etc/mcp/servers.d/grants.manifest'), ('home', '/home/x/grants.manifest')):
            w.define(name, {**SERVER, 'working_dir': '/srv/project', 'isolation': {'manifest': manifest}})
        stderr = w.generate()
        for name, more in (('inline', True), ('uid', True), ('beside', True), ('absolute', True), ('wrong', False), ('home', False)):
            wanted = ['"-/srv/project"', '"-/srv/out"', '"-/srv/project/rw"'] if more else '"-/srv/project"'
            expect_equal(value(w.drop_in(name), 'ReadWritePaths'), wanted, name)
        assert 'home.json' in stderr and 'early boot' in stderr, stderr


@case
def a_manifest_that_is_a_fifo_does_not_hold_up_the_boot():
    with world() as w:
        os.mkfifo(w.servers / 'fifo.manifest')
        w.define('demo', {**SERVER, 'isolation': {'manifest': 'fifo.manifest'}})
        assert 'early boot' in w.generate(timeout=30)
        w.socket('demo')


@case
def a_user_of_the_machine_replaces_the_dynamic_one():
    with world() as w:
        w.define('demo', {**SERVER, 'user': 'alice'})
        w.define('home', {**SERVER, 'user': 'alice', 'isolation': {'home': 'shared'}})
        w.generate()
        for name, home in (('demo', []), ('home', 'no')):
            text = w.drop_in(name)
            expect_equal([value(text, k) for k in ('DynamicUser', 'User', 'ProtectHome')], ['no', 'alice', home], name)


def verify(w, units, scope):
    """systemd-analyze on the generated units over the shipped ones, whose program is one that is there."""
    base = w.out.parent / 'base'
    base.mkdir()
    template = (BUILD / f'units/{scope}/mcp-server@.service').read_text()
    (base / 'mcp-server@.service').write_text(re.sub(r'^(ExecStart=!?)\S+', r'\1/bin/true', template, flags=re.MULTILINE))
    shutil.copy(SOURCE / 'units/mcp.slice', base)
    with tempfile.TemporaryDirectory(prefix='m') as runtime:  # as short as the real one: socket paths are limited
        return subprocess.run(['systemd-analyze', f'--{scope}', '--man=no', 'verify', *units], check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace',
                              env={**os.environ, 'SYSTEMD_UNIT_PATH': f'{w.out}:{base}:', 'HOME': str(w.out.parent),
                                   'XDG_RUNTIME_DIR': runtime})


@case
def systemd_has_nothing_to_say_about_it():
    if not shutil.which('systemd-analyze'):
        raise Skip('systemd-analyze is not installed')
    for scope in ('system', 'user'):
        with world(scope) as w:
            names = {t[:40] for t in HOSTILE} | {'plain'}
            w.client_file({'mcpServers': {n: {'command': '/bin/true', 'cwd': f'/srv/{n}'} for n in names}})
            w.define('values', {**SERVER, 'working_dir': '/srv/a "b" %h \\', 'isolation': {'write': ['/srv/ü %n', '/srv/x/', '/tmp/a "b" %h\\']}})
            w.define('broken', '{')
            if scope == 'system':
                w.define('user', {**SERVER, 'user': 'root'})
            w.generate()
            assert len(w.instances()) > len(names), w.instances()
            # To systemd-analyze a colon separates a file from an alias.
            instances = [i for i in w.instances() if ':' not in i]
            done = verify(w, [f'mcp-server@{i}.service' for i in instances], scope)  # each with its socket
            expect_equal((done.returncode, done.stdout), (0, ''), f'{scope}: systemd-analyze verify')


@case
def in_the_initrd_it_does_nothing():
    with world() as w:
        w.define('demo', SERVER)
        w.generate(env={'SYSTEMD_IN_INITRD': '1'})
        expect_equal(w.files(), [], 'files')


@case
def it_needs_nothing_but_its_directories():
    """Everything is read-only to it but those, as systemd 253 has it: by Landlock, which a test needs no root for."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(444, None, 0, 1) < 1:
        raise Skip('this kernel has no Landlock')
    write = sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12))

    def confine():
        attr = ctypes.c_uint64(write)
        ruleset = libc.syscall(444, ctypes.byref(attr), 8, 0)
        for directory in w.dirs:
            rule = bytes(ctypes.c_uint64(write)) + bytes(ctypes.c_int32(os.open(directory, os.O_PATH)))
            assert libc.syscall(445, ruleset, 1, rule, 0) == 0
        assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.syscall(446, ruleset, 0) == 0

    with world() as w:
        w.define('demo', SERVER)
        before = sorted(str(p) for p in w.root.rglob('*'))
        expect_equal(w.generate(preexec_fn=confine), '', 'stderr')
        expect_equal(w.instances(), ['demo'], 'servers')
        expect_equal(sorted(str(p) for p in w.root.rglob('*')), before, 'the tree')


@case
def only_a_directory_that_cannot_be_written_is_a_failure():
    with world() as w:
        w.define('demo', SERVER)
        w.out.rmdir()
        stderr = w.generate(status=1)
        assert 'Cannot write' in stderr, stderr
    with world() as w:
        shutil.rmtree(w.servers.parent)
        expect_equal((w.generate(), w.files()), ('', []), 'no definitions at all')


@case
def units_that_are_there_are_left_alone():
    with world() as w:
        w.define('demo', SERVER)
        w.define('other', SERVER)
        (w.out / 'mcp-server@demo.socket').write_text('mine')
        stderr = w.generate()
        expect_equal(w.socket('demo'), 'mine', 'the socket that was there')
        assert not (w.out / 'mcp-server@demo.service.d').exists(), 'half of the units are there'
        assert 'demo.json' in stderr and 'already' in stderr, stderr
        expect_equal(w.wanted('other'), True, 'the other server')


MANY = 450  # enough for two processes, where there are as many processors


def tree(w):
    return {name: os.readlink(w.out / name) if (w.out / name).is_symlink() else (w.out / name).read_text()
            for name in w.files()}


@case
def several_processes_write_what_one_does():
    with world() as w:
        for i in range(MANY):
            w.define(f'server-{i:03}', {**SERVER, 'args': [str(i)]} if i % 50 else '{')
        w.define('server x', SERVER)
        w.define('server\\x20x', SERVER)
        stderr = w.generate()
        all_processors = tree(w)
        expect_equal(len(w.instances()), MANY + 1, 'servers')
        shutil.rmtree(w.out)
        w.out.mkdir()
        one = min(os.sched_getaffinity(0))
        alone = w.generate(preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        expect_equal(tree(w), all_processors, 'the units that one process writes')
        expect_equal(sorted(alone.splitlines()), sorted(stderr.splitlines()), 'what it says')
        expect_equal(alone.count('MCP-C-COLLISION'), 2, 'collisions')


@case
def few_descriptors_are_enough():
    """Without leave for many no file is kept open until others are written."""
    with world() as w:
        for i in range(MANY):
            w.define(f'server-{i:03}', SERVER)
        stderr = w.generate(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24)))
        expect_equal(stderr, '', 'what it says')
        expect_equal(len(w.instances()), MANY, 'servers')


@case
def none_of_several_processes_fails_unnoticed():
    for enabled in (0, MANY - 1):  # the one server whose link cannot be made
        with world() as w:
            for i in range(MANY):
                w.define(f'server-{i:03}', {**SERVER, 'enabled': i == enabled})
            (w.out / 'sockets.target.wants').write_text('in the way')
            stderr = w.generate(status=1)
            assert f'server-{enabled:03}.json' in stderr, stderr
            expect_equal(len(w.instances()), MANY - 1, 'the others')


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def generate_anew(w):
    """Seconds of the processor: others on the machine would decide about those on the clock."""
    shutil.rmtree(w.out)
    w.out.mkdir()
    start = processor_seconds()
    w.generate()
    return processor_seconds() - start


@case
def ten_times_the_servers_take_about_ten_times_as_long():
    """In turns, and once is enough: on a busy machine the same work can take five times as much of the processor."""
    with world() as few, world() as many:
        for w, n in ((few, 100), (many, 1000)):
            for i in range(n):
                w.define(f'server-{i}', {**SERVER, 'args': ['x'] * 20})
        turns = []
        for _ in range(5):
            turns.append((generate_anew(few), generate_anew(many)))
            print(f'# {turns[-1][0] * 1000:.0f} ms for 100, {turns[-1][1] * 1000:.0f} ms for 1000')
            if turns[-1][1] < 25 * turns[-1][0]:
                break
        else:
            raise AssertionError(f'seconds for 100 and for 1000 servers: {turns}')
        expect_equal((len(few.instances()), len(many.instances())), (100, 1000), 'servers')


if __name__ == '__main__':
    # A system definition has to be root's. In a user namespace the tester's own files are.
    if os.geteuid() != 0:
        try:
            subprocess.run(['unshare', '-r', 'true'], check=True, stderr=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError):
            print('1..0 # SKIP system definitions have to be owned by root')
            sys.exit(0)
        os.execvp('unshare', ['unshare', '-r', sys.executable, '-B', *sys.argv])
    sys.exit(run())
