# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real servers from npm, talked to by the official SDK's client."""

import json
import shutil
import subprocess

import checks
from checks import WAYS, nothing_left
from harness import case, expect, expect_equal
from world import MEMBER

PACKAGES = '/srv/mcp-npm/node_modules/@modelcontextprotocol'
CLIENT = '/srv/mcp-npm/client.mjs'
MIB = 1 << 20

# EROFS is what the system unit's read-only mounts say, which are asked before the sandbox.
DENIALS = ('EACCES', 'EROFS')

# The three ways in which a client goes or is cut off that need the client's process, and those that don't.
ENDS = (
    'close',
    'kill -9 of the client',
    'systemctl stop',
    'kill -9 of the supervisor',
    'kill -9 of the server',
)


class SdkClient:
    """One node process with the SDK's client in it, driven operation by operation."""

    def __init__(self, server, way):
        target = [server.world.flag, server.name] if way == 'connect' else [server.stream]
        self.process = server.world.popen(
            ['node', CLIENT, way, *target],
            user=MEMBER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        server.world.clients.append(self)

    def operate(self, op, **keys):
        self.process.stdin.write(json.dumps({'op': op, **keys}) + '\n')
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        expect(line, f'the client ended during {op}')
        return json.loads(line)

    def must(self, op, **keys):
        result = self.operate(op, **keys)
        expect(result['ok'], f'{op} {keys} failed: {result.get("error")}')
        return result

    def call(self, tool, client=0, **arguments):
        return self.must('call', tool=tool, arguments=arguments, client=client)

    def close(self):
        self.must('close')
        self.process.stdin.close()
        self.process.wait(10)

    def kill(self):
        self.process.kill()
        self.process.wait(5)
        self.process.stdin.close()
        self.process.stdout.close()


def node_server(world, package, *args, **keys):
    return world.define(
        {'command': shutil.which('node'), 'args': [f'{PACKAGES}/{package}/dist/index.js', *args], **keys}
    )


def filesystem_server(world):
    """Its own allowed directories are wider than the sandbox, so that it is the sandbox that says no."""
    inside, outside = world.directory('fs-inside'), world.directory('fs-outside')
    server = node_server(
        world, 'server-filesystem', str(inside), str(outside), isolation={'write': [str(inside)]}
    )
    return server, inside, outside


def everywhere(server, function):
    """The same through both sockets, each with the proof that nothing is left."""
    for way in WAYS:
        client = SdkClient(server, way)
        client.must('connect')
        function(client, way)
        client.close()
        nothing_left(server)


@case(timeout=60)
def filesystem_writes_inside_and_is_denied_outside(world):
    server, inside, outside = filesystem_server(world)

    def use(client, way):
        expect(
            {'read_text_file', 'write_file', 'list_directory'} <= set(client.must('list')['tools']),
            'tools are missing',
        )
        written = client.call('write_file', path=str(inside / way), content='from ' + way)
        expect(not written['isError'], f'write inside: {written}')
        expect_equal((inside / way).read_text(encoding='utf-8'), 'from ' + way, 'what was written')
        refused = client.call('write_file', path=str(outside / way), content='x')
        expect(
            refused['isError'] and any(e in refused['text'] for e in DENIALS), f'write outside: {refused}'
        )
        expect(not (outside / way).exists(), 'the denied file is there')
        expect_equal(
            client.call('read_text_file', path=str(inside / way))['text'], 'from ' + way, 'what was read'
        )

    everywhere(server, use)


@case(timeout=60)
def filesystem_moves_and_edits_inside(world):
    server, inside, outside = filesystem_server(world)

    def use(client, way):
        client.call('write_file', path=str(inside / 'a'), content='one')
        for tool, arguments in (
            ('create_directory', {'path': str(inside / way)}),
            ('edit_file', {'path': str(inside / 'a'), 'edits': [{'oldText': 'one', 'newText': 'two'}]}),
            ('move_file', {'source': str(inside / 'a'), 'destination': str(inside / way / 'b')}),
        ):
            result = client.call(tool, **arguments)
            expect(not result['isError'], f'{tool}: {result}')
        expect_equal((inside / way / 'b').read_text(encoding='utf-8'), 'two', 'content')
        refused = client.call('move_file', source=str(inside / way / 'b'), destination=str(outside / 'b'))
        expect(refused['isError'], f'moved out of the sandbox: {refused}')

    everywhere(server, use)


@case(timeout=200)
def a_file_of_sixteen_mib_goes_both_ways(world):
    """On the way in server-filesystem itself takes no message over 10 MiB.

    Not by the SDK's client: for each piece that arrives it copies and searches all that came before.
    """
    server, inside, _ = filesystem_server(world)
    (inside / 'big').write_text('b' * (16 * MIB), encoding='ascii')
    for way in WAYS:
        client = server.open(way)
        client.initialize()
        text, failed = client.call('read_text_file', timeout=60, path=str(inside / 'big'))
        expect_equal((failed, len(text)), (False, 16 * MIB), f'what was read over {way}')
        text, failed = client.call('write_file', timeout=60, path=str(inside / way), content='i' * (8 * MIB))
        expect(not failed, f'write over {way}: {text}')
        expect_equal((inside / way).stat().st_size, 8 * MIB, f'length written over {way}')
        client.close()
        nothing_left(server)


# In one manager: whose supervisor handed the descriptors over makes no difference to what goes through them.
@case(timeout=400, managers=['user'])
def sixteen_mib_in_one_message_both_ways(world):
    server = world.fixture('honest')

    def use(client, way):
        result = client.call('echo', text={'$repeat': ['m', 16 * MIB]})
        expect_equal((result['isError'], result['length']), (False, 16 * MIB), f'echo over {way}')

    everywhere(server, use)


@case(timeout=60)
def memory_keeps_its_graph_in_its_state(world):
    state = world.directory('memory')
    server = node_server(
        world,
        'server-memory',
        env={'MEMORY_FILE_PATH': str(state / 'graph.jsonl')},
        isolation={'write': [str(state)]},
    )
    entity = {'name': 'systemd', 'entityType': 'manager', 'observations': ['starts things']}

    def use(client, way):
        if way == WAYS[0]:
            result = client.call('create_entities', entities=[entity])
            expect(not result['isError'], f'create_entities: {result}')
        graph = client.call('read_graph')
        expect('starts things' in graph['text'], f'the graph over {way}: {graph}')

    everywhere(server, use)


@case(timeout=60)
def everything_answers_its_tools(world):
    server = node_server(world, 'server-everything')

    def use(client, _way):
        expect('echo' in client.must('list')['tools'], 'no echo')
        expect('hello' in client.call('echo', message='hello')['text'], 'echo')
        expect('42' in client.call('get-sum', a=40, b=2)['text'], 'get-sum')
        text = client.call('echo', message={'$repeat': ['e', MIB]})
        expect(text['length'] >= MIB, f'echo of 1 MiB gave {text["length"]} characters')

    everywhere(server, use)


@case(timeout=120)
def everything_echoes_eight_mib(world):
    server = node_server(world, 'server-everything')
    for way in WAYS:
        client = server.open(way)
        client.initialize()
        text, failed = client.call('echo', timeout=60, message='e' * (8 * MIB))
        expect(not failed and text.count('e') >= 8 * MIB, f'echo of 8 MiB over {way} gave {len(text)} characters')
        client.close()
        nothing_left(server)


@case(timeout=400)
def twenty_clients_at_once(world):
    server = node_server(world, 'server-everything', sessions={'max': 20})
    for way in WAYS:
        client = SdkClient(server, way)
        expect_equal(client.must('connect', count=20)['clients'], 20, 'clients')
        expect_equal(len(server.scopes()), 20, 'scopes')
        for number in range(20):
            expect(
                f'hello {number}' in client.call('echo', client=number, message=f'hello {number}')['text'],
                f'echo of client {number}',
            )
        client.close()
        nothing_left(server, 20)


def end_case(name):
    def run(world):
        server = node_server(world, 'server-everything', stop=checks.QUICK_STOP)
        for way in WAYS:
            client = SdkClient(server, way)
            client.must('connect')
            expect(
                server.processes() and server.scopes(),
                'no process or no scope was found while the session ran',
            )
            checks.ENDS[name](server, client)
            nothing_left(server)
            client.kill()

    run.__name__ = f'{name} leaves nothing'
    run.__module__ = __name__
    case(timeout=60)(run)


for _end in ENDS:
    end_case(_end)
