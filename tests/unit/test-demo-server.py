#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The demo server over pipes: both eras, every tool, every kind of wrong input.  Argument: the program."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

PROGRAM = sys.argv[1]
LEGACY = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']
MODERN = '2026-07-28'
PREFIX = 'io.modelcontextprotocol/'
META = {PREFIX + 'protocolVersion': MODERN, PREFIX + 'clientCapabilities': {}}
TOOLS = ['connect', 'echo', 'list_directory', 'list_environment', 'read_file', 'signal', 'sleep', 'spawn',
         'stderr', 'whoami', 'write_file']


class Server:
    """A running server; leaving the context closes its input and checks that it ends well."""

    def __init__(self, *options, initialize=None, env=None):
        self.process = subprocess.Popen([PROGRAM, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env=env)
        self.last_id = 0
        if initialize:
            result = self.ask('initialize', {'protocolVersion': initialize, 'capabilities': {}})
            assert result['protocolVersion'] == initialize, result
            self.notify('notifications/initialized')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        begin = time.monotonic()
        rest, self.stderr = self.process.communicate(timeout=20)
        assert self.process.returncode == 0, self.process.returncode
        assert rest == b'', rest
        assert time.monotonic() - begin < 5

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self):
        return json.loads(self.process.stdout.readline())

    def send(self, message):
        self.write(json.dumps(message).encode() + b'\n')

    def notify(self, method):
        self.send({'jsonrpc': '2.0', 'method': method})

    def request(self, method, params=None, **more):
        """The whole answer."""
        self.last_id += 1
        message = {'jsonrpc': '2.0', 'id': self.last_id, 'method': method, **more}
        if params is not None:
            message['params'] = params
        self.send(message)
        answer = self.read()
        assert answer['jsonrpc'] == '2.0' and answer['id'] == message['id'], answer
        return answer

    def ask(self, method, params=None):
        answer = self.request(method, params)
        assert 'error' not in answer, answer
        return answer['result']

    def error(self, method, params=None):
        return self.request(method, params)['error']

    def call(self, name, **arguments):
        """The texts of a result that is no error."""
        result = self.ask('tools/call', {'name': name, 'arguments': arguments})
        assert result['isError'] is False, result
        return [item['text'] for item in result['content']]

    def fails(self, name, what, **arguments):
        result = self.ask('tools/call', {'name': name, 'arguments': arguments})
        assert result['isError'] is True, result
        assert what in result['content'][-1]['text'], result

    def raw(self, line):
        """The error that a line gets."""
        self.write(line + b'\n')
        answer = self.read()
        assert answer['id'] is None, answer
        return answer['error']['code']


def legacy():
    return Server(initialize=LEGACY[0])


def test_help_and_version():
    for option, word in ('--help', '--modern-only'), ('--version', 'mcp-demo-server'):
        done = subprocess.run([PROGRAM, option], capture_output=True, text=True, check=True)
        assert word in done.stdout and done.stderr == ''
    for arguments in ['--nonsense'], ['extra'], ['--legacy-only', '--modern-only']:
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 2 and done.stderr and not done.stdout


def test_end_of_input_ends_it():
    with Server():
        pass


def test_client_gone_is_no_failure():
    server = Server(initialize=LEGACY[0])
    server.process.stdout.close()
    server.send({'jsonrpc': '2.0', 'id': 1, 'method': 'ping'})
    assert server.process.wait(5) == 0
    assert server.process.stderr.read() == b''


def test_legacy_handshake():
    for version in LEGACY:
        with Server(initialize=version) as server:
            assert server.ask('ping') == {}
    with Server() as server:
        result = server.ask('initialize', {'protocolVersion': '1999-01-01', 'capabilities': {}})
        assert result['protocolVersion'] == LEGACY[0]
        assert result['serverInfo']['name'] == 'mcp-demo-server' and result['serverInfo']['version']
        assert result['capabilities'] == {'tools': {}}
        assert server.error('initialize', {})['code'] == -32602


def test_legacy_needs_initialize():
    with Server('--legacy-only') as server:
        assert server.ask('ping') == {}
        assert server.error('tools/list')['code'] == -32600
        assert server.error('server/discover', {'_meta': META})['code'] == -32601


def test_modern():
    for options in [], ['--modern-only']:
        with Server(*options) as server:
            result = server.ask('server/discover', {'_meta': META})
            assert result['supportedVersions'] == [MODERN] and result['resultType'] == 'complete'
            assert result['_meta'][PREFIX + 'serverInfo']['name'] == 'mcp-demo-server'
            assert result['ttlMs'] > 0 and result['cacheScope'] == 'public'
            result = server.ask('tools/list', {'_meta': META})
            assert result['resultType'] == 'complete' and len(result['tools']) == len(TOOLS)
            result = server.ask('tools/call', {'name': 'echo', 'arguments': {'text': 'x'}, '_meta': META})
            assert result['resultType'] == 'complete' and result['content'][0]['text'] == 'x'


def test_modern_meta_is_required():
    with Server() as server:
        for method in 'server/discover', 'tools/list', 'tools/call':
            assert server.error(method)['code'] == -32602
        for key in META:
            assert server.error('server/discover', {'_meta': {k: v for k, v in META.items() if k != key}})['code'] == -32602
        assert server.error('server/discover', {'_meta': {**META, PREFIX + 'protocolVersion': 1}})['code'] == -32602
        error = server.error('tools/list', {'_meta': {**META, PREFIX + 'protocolVersion': '2031-01-01'}})
        assert error['code'] == -32022, error
        assert error['data'] == {'supported': [MODERN], 'requested': '2031-01-01'}


def test_modern_only_refuses_initialize():
    with Server('--modern-only') as server:
        error = server.error('initialize', {'protocolVersion': LEGACY[0], 'capabilities': {}})
        assert error['code'] == -32022 and MODERN in error['message']
        assert error['data'] == {'supported': [MODERN], 'requested': LEGACY[0]}
        assert server.error('ping', {'_meta': META})['code'] == -32601


def test_both_eras_on_one_pipe():
    with legacy() as server:
        assert 'resultType' not in server.ask('tools/list')
        assert server.ask('tools/list', {'_meta': META})['resultType'] == 'complete'


def test_tools_have_schemas():
    with legacy() as server:
        tools = server.ask('tools/list')['tools']
        assert sorted(tool['name'] for tool in tools) == TOOLS
        for tool in tools:
            schema = tool['inputSchema']
            assert schema['type'] == 'object' and schema['additionalProperties'] is False, tool
            assert set(schema['required']) <= set(schema['properties']) and tool['description'], tool
            assert all(p['type'] and p['description'] for p in schema['properties'].values()), tool
        assert server.error('tools/list', {'cursor': 'x'})['code'] == -32602


def test_batches():
    ping = {'jsonrpc': '2.0', 'id': 'a', 'method': 'ping'}
    with Server(initialize='2025-03-26') as server:
        server.send([ping, {'jsonrpc': '2.0', 'method': 'notifications/x'}, 1, {**ping, 'id': 'b', 'method': 'initialize'}])
        answers = server.read()
        assert [a['id'] for a in answers] == ['a', None, 'b'], answers
        assert [a.get('error', {}).get('code') for a in answers] == [None, -32600, -32600]
        server.send([{'jsonrpc': '2.0', 'method': 'notifications/x'}])  # no answer
        assert server.raw(b'[]') == -32600
    with legacy() as server:
        assert server.raw(json.dumps([ping]).encode()) == -32600
    with Server() as server:
        assert server.raw(json.dumps([ping]).encode()) == -32600


def test_what_is_not_json():
    with Server() as server:
        for line in b'hello', b'{', b'{"a":1,}', b"{'a':1}", b'\x00', b'{}\x00', b'"\xff"', b'\xff\xfe', b'"\xed\xa0\x80"', \
                    b'[' * 1000, b'NaN', b'Content-Length: 10':
            assert server.raw(line) == -32700, line
        assert server.ask('ping') == {}


def test_what_is_no_request():
    with Server() as server:
        for line in b'1', b'null', b'"x"', b'{}', b'{"jsonrpc":"1.0","id":1,"method":"ping"}', \
                    b'{"jsonrpc":"2.0","id":null,"method":"ping"}', b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', \
                    b'{"jsonrpc":"2.0","id":{},"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":7}', \
                    b'{"jsonrpc":"2.0","id":1}':
            assert server.raw(line) == -32600, line
        assert server.error('ping', [])['code'] == -32602
        assert server.error('no/such')['code'] == -32601
        # Nobody waits for an answer to these.
        server.write(b'\n \r\n{"jsonrpc":"2.0","method":"no/such"}\n{"jsonrpc":"2.0","id":1,"result":{}}\n')
        server.write(b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}\n')
        assert server.ask('ping') == {}


def test_ids_come_back_as_they_were():
    with Server() as server:
        for value in 0, -1, 2 ** 53, 'x', '', 'ä"\\\n':
            server.send({'jsonrpc': '2.0', 'id': value, 'method': 'ping'})
            assert server.read()['id'] == value


def test_byte_order_mark_at_the_start():
    with Server() as server:
        server.write(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n')
        assert server.read()['result'] == {}
        assert server.raw(b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}') == -32700


def test_one_byte_at_a_time():
    text = 'ä€😀'
    message = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call',
               'params': {'name': 'echo', 'arguments': {'text': text}}}
    with legacy() as server:
        for byte in json.dumps(message, ensure_ascii=False).encode() + b'\n':
            server.write(bytes([byte]))
        assert server.read()['result']['content'][0]['text'] == text


def test_echo_odd_characters():
    with legacy() as server:
        for text in '', 'a\0b', '\x7f\x01\u2028', '😀' * 1000:
            assert server.call('echo', text=text) == [text]
        assert server.call('echo', text='\ud800') == ['\ufffd']  # a lone surrogate is no character


def test_large_messages():
    text = 'y' * (16 << 20)
    with legacy() as server:
        begin = time.monotonic()
        assert server.call('echo', text=text) == [text]
        assert time.monotonic() - begin < 15


def test_oversized_message():
    with Server() as server:
        block = b'x' * (1 << 20)
        for _ in range(65):
            server.write(block)
        assert server.raw(b'') == -32700
        assert server.ask('ping') == {}


def test_nonblocking_descriptors():
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    with subprocess.Popen([PROGRAM], stdin=theirs, stdout=theirs) as process:
        theirs.close()
        text = 'z' * (4 << 20)
        message = {'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call',
                   'params': {'name': 'echo', 'arguments': {'text': text}, '_meta': META}}
        ours.sendall(json.dumps(message).encode() + b'\n')
        answer = json.loads(ours.makefile().readline())
        assert answer['result']['content'][0]['text'] == text
        ours.close()
        assert process.wait(5) == 0


def test_wrong_arguments():
    with legacy() as server:
        assert server.error('tools/call', {'name': 'no_such'})['code'] == -32602
        assert server.error('tools/call', {})['code'] == -32602
        assert server.error('tools/call', {'name': 7})['code'] == -32602
        assert server.error('tools/call', {'name': 'echo', 'arguments': []})['code'] == -32602
        server.fails('echo', 'EINVAL')
        server.fails('echo', 'EINVAL', text=1)
        server.fails('echo', '"more"', text='x', more=1)
        server.fails('read_file', 'EINVAL', path='a\0b')
        server.fails('read_file', 'EINVAL', path='')
        server.fails('read_file', 'EINVAL', path='/', max_bytes=0)
        server.fails('sleep', 'EINVAL', ms=1.5)
        server.fails('signal', 'EINVAL', pid=-1, signal=9)
        server.fails('signal', 'EINVAL', pid=1, signal=True)
        server.fails('write_file', 'EINVAL', path='/x', content='', append='yes')
        for argv in [], ['a', 1], 'ls', ['a\0']:
            server.fails('spawn', 'EINVAL', argv=argv)
        for arguments in {}, {'host': 'localhost'}, {'port': 1}, {'host': 'x', 'port': 1, 'path': '/x'}, \
                         {'host': 'x', 'port': 65536}:
            server.fails('connect', 'EINVAL', **arguments)


def test_files():
    with tempfile.TemporaryDirectory() as directory, legacy() as server:
        path = directory + '/file'
        server.fails('read_file', 'ENOENT', path=path)
        assert 'Wrote 5 bytes' in server.call('write_file', path=path, content='a\0bä')[0]
        server.call('write_file', path=path, content='more', append=True)
        assert server.call('read_file', path=path) == ['a\0bämore']
        assert server.call('read_file', path=path, max_bytes=3)[0] == 'a\0b'
        server.call('write_file', path=path, content='x')
        assert server.call('read_file', path=path) == ['x']
        with open(path, 'wb') as file:
            file.write(b'\xffok\xc3')
        assert server.call('read_file', path=path)[0] == '\ufffdok\ufffd'
        server.fails('write_file', 'ENOENT', path=directory + '/no/file', content='')
        server.fails('write_file', 'EISDIR', path=directory, content='')
        server.fails('read_file', 'EISDIR', path=directory)
        os.mkfifo(directory + '/fifo')
        server.fails('write_file', 'ENXIO', path=directory + '/fifo', content='')
        assert server.call('read_file', path=directory + '/fifo') == ['']
        assert len(server.call('read_file', path='/dev/zero', max_bytes=1000)[0]) == 1000
        os.mkdir(directory + '/sub')
        assert server.call('list_directory', path=directory) == ['fifo\nfile\nsub/']
        assert server.call('list_directory', path=directory + '/sub') == ['']
        server.fails('list_directory', 'ENOTDIR', path=path)
        server.fails('list_directory', 'ENOENT', path=directory + '/no')


def test_connect():
    with tempfile.TemporaryDirectory() as directory, legacy() as server, socket.socket(socket.AF_UNIX) as unix, \
            socket.socket(socket.AF_UNIX) as abstract, socket.socket() as tcp:
        unix.bind(directory + '/s')
        server.fails('connect', 'ECONNREFUSED: connect', path=directory + '/s')
        unix.listen()
        assert server.call('connect', path=directory + '/s')
        server.fails('connect', 'ENOENT', path=directory + '/no')
        server.fails('connect', 'ENAMETOOLONG', path='/' * 200)
        name = f'mcp-demo-test-{os.getpid()}'
        abstract.bind('\0' + name)
        abstract.listen()
        assert server.call('connect', path='@' + name)
        tcp.bind(('127.0.0.1', 0))
        port = tcp.getsockname()[1]
        server.fails('connect', 'ECONNREFUSED', host='127.0.0.1', port=port)
        tcp.listen()
        assert server.call('connect', host='127.0.0.1', port=port)
        server.fails('connect', 'EADDRNOTAVAIL', host='256.0.0.1', port=1)


def test_spawn():
    with tempfile.TemporaryDirectory() as directory, legacy() as server:
        assert server.call('spawn', argv=['echo', 'a  b', '$HOME']) == ['a  b $HOME\n', 'Exit status 0.']
        server.fails('spawn', 'Exit status 3.', argv=['sh', '-c', 'exit 3'])
        server.fails('spawn', 'SIGKILL', argv=['sh', '-c', 'kill -9 $$'])
        server.fails('spawn', 'ENOENT', argv=['/no/such/program'])
        server.fails('spawn', 'EACCES', argv=[directory])
        with open(directory + '/script', 'w') as file:
            file.write('echo a shell ran this\n')
        os.chmod(directory + '/script', 0o755)
        server.fails('spawn', 'ENOEXEC', argv=[directory + '/script'])
        assert server.call('spawn', argv=['cat'])[0] == ''  # nothing on its stdin
        server.fails('spawn', 'ETIMEDOUT', argv=['sleep', '60'], timeout_ms=100)
        server.fails('spawn', 'ETIMEDOUT', argv=['yes'], timeout_ms=200)
        texts = server.call('spawn', argv=['head', '-c', '3000000', '/dev/zero'])
        assert len(texts[0]) == 1 << 20 and 'more output' in texts[1]
        # SIGPIPE is ignored by the server, not by what it starts.
        ignored = int(server.call('spawn', argv=['grep', 'SigIgn', '/proc/self/status'])[0].split()[1], 16)
        assert ignored & 1 << signal.SIGPIPE - 1 == 0, hex(ignored)


def test_spawn_does_not_wait_for_orphans():
    with legacy() as server:
        begin = time.monotonic()
        texts = server.call('spawn', argv=['sh', '-c', 'sleep 20 & echo $!'])
        assert time.monotonic() - begin < 10
        os.kill(int(texts[0]), signal.SIGKILL)


def test_signal():
    with subprocess.Popen(['sleep', '60']) as victim, legacy() as server:
        assert server.call('signal', pid=victim.pid, signal=0)
        assert server.call('signal', pid=victim.pid, signal=int(signal.SIGTERM))
        assert victim.wait(5) == -signal.SIGTERM
        server.fails('signal', 'ESRCH', pid=victim.pid, signal=0)


def test_whoami_and_environment():
    env = {'PATH': os.environ['PATH'], 'B': 'two\nlines', 'A': 'ä'}
    with Server(initialize=LEGACY[0], env=env) as server:
        lines = server.call('whoami')[0].split('\n')
        assert f'pid={server.process.pid}' in lines and f'uid={os.geteuid()}' in lines
        for key in 'Groups=', 'NoNewPrivs=', 'Seccomp=', 'CapEff=', 'cgroup=', 'cwd=':
            assert any(line.startswith(key) for line in lines), key
        listed = server.call('list_environment')[0]
        assert listed == '\n'.join(f'{k}={v}' for k, v in sorted(env.items())), listed


def test_sleep_and_stderr():
    with legacy() as server:
        begin = time.monotonic()
        server.call('sleep', ms=200)
        assert time.monotonic() - begin >= 0.2
        server.call('stderr', text='to the log')
        assert select.select([server.process.stderr], [], [], 5)[0]
    assert server.stderr == b'to the log\n'


def main():
    tests = [(name, value) for name, value in globals().items() if name.startswith('test_')]
    print(f'1..{len(tests)}')
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
        except Exception:  # whatever it is, the case failed and the next one runs
            failed += 1
            print(''.join('# ' + line + '\n' for line in traceback.format_exc().splitlines()), end='')
            print(f'not ok {number} - {name[5:]}', flush=True)
        else:
            print(f'ok {number} - {name[5:]}', flush=True)
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
