# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clients of one MCP server: newline-delimited JSON-RPC over a process's pipes or over a socket."""

import contextlib
import json
import os
import select
import signal
import socket
import time

PROTOCOL = '2025-06-18'
# Every timeout is so many times longer: an emulated machine is slow.
PATIENCE = float(os.environ.get('MCP_TEST_PATIENCE', '1'))


class Closed(Exception):
    """The other side ended before it answered."""


def ready(reader, writer=-1, timeout=None):
    """Whether there is something to read, and whether something can be written.  select() knows 1,024 descriptors only."""
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    if writer == reader:
        poll.modify(reader, select.POLLIN | select.POLLOUT)
    elif writer >= 0:
        poll.register(writer, select.POLLOUT)
    events = poll.poll(None if timeout is None else timeout * 1000)
    broken = select.POLLHUP | select.POLLERR  # reading and writing tell what is the matter
    return (
        any(fd == reader and event & (select.POLLIN | broken) for fd, event in events),
        any(fd == writer and event & (select.POLLOUT | broken) for fd, event in events),
    )


class Client:
    """The part that doesn't care what the bytes travel through."""

    reader = writer = -1

    def __init__(self):
        self.buffer = bytearray()
        self.last_id = 0

    def send_bytes(self, data):
        """Writes everything, reading meanwhile: a server that echoes would block on us otherwise."""
        view = memoryview(data)
        os.set_blocking(self.writer, False)
        while view:
            readable, writable = ready(self.reader, self.writer)
            if readable:
                self._fill()
            if writable:
                with contextlib.suppress(BlockingIOError):
                    view = view[os.write(self.writer, view) :]

    def _fill(self):
        chunk = os.read(self.reader, 1 << 20)
        if not chunk:
            raise Closed('the server closed its output')
        self.buffer += chunk

    def read_line(self, timeout=10.0):
        deadline = time.monotonic() + timeout * PATIENCE
        scanned = 0
        while (end := self.buffer.find(b'\n', scanned)) < 0:
            scanned = len(self.buffer)
            readable, _ = ready(self.reader, timeout=max(0, deadline - time.monotonic()))
            if not readable:
                raise AssertionError(
                    f'no line from the server within {timeout:g} s (so far: {bytes(self.buffer[:200])!r})'
                )
            self._fill()
        line = bytes(self.buffer[:end])
        del self.buffer[: end + 1]
        return line

    def read_rest(self, timeout=10.0):
        """Everything up to the end of the stream."""
        deadline = time.monotonic() + timeout * PATIENCE
        with contextlib.suppress(Closed, ConnectionResetError):
            while True:
                readable, _ = ready(self.reader, timeout=max(0, deadline - time.monotonic()))
                if not readable:
                    raise AssertionError(f'the stream did not end within {timeout:g} s')
                self._fill()
        rest = bytes(self.buffer)
        self.buffer.clear()
        return rest

    def request(self, method, params=None, timeout=10.0):
        """The result; notifications in between are dropped; an error is an AssertionError."""
        self.last_id += 1
        self.send({'jsonrpc': '2.0', 'id': self.last_id, 'method': method, 'params': params or {}})
        while True:
            answer = json.loads(self.read_line(timeout))
            if answer.get('id') == self.last_id:
                break
        if 'error' in answer:
            raise AssertionError(f'{method} was answered with an error: {answer["error"]}')
        return answer['result']

    def send(self, message):
        self.send_bytes(json.dumps(message).encode() + b'\n')

    def initialize(self):
        result = self.request(
            'initialize',
            {
                'protocolVersion': PROTOCOL,
                'capabilities': {},
                'clientInfo': {'name': 'integration', 'version': '1'},
            },
        )
        self.send({'jsonrpc': '2.0', 'method': 'notifications/initialized'})
        return result

    def call(self, tool, timeout=10.0, **arguments):
        """A tool's text and whether it said that it failed."""
        result = self.request('tools/call', {'name': tool, 'arguments': arguments}, timeout)
        return ''.join(part.get('text', '') for part in result['content']), bool(result.get('isError'))


class ProcessClient(Client):
    """Over the pipes of an mcp-connect process."""

    def __init__(self, process, stdin, stdout, stderr):
        super().__init__()
        self.process = process
        self.writer, self.reader, self.errors = stdin, stdout, stderr

    def close_input(self):
        os.close(self.writer)
        self.writer = -1

    def close(self, timeout=15.0):
        """What a client does that is done: closes its input and waits.  Returns the exit status."""
        if self.writer >= 0:
            self.close_input()
        return self.wait(timeout)

    def wait(self, timeout=15.0):
        return self.process.wait(timeout * PATIENCE)

    def stderr_text(self):
        """What mcp-connect said; call it when the process has ended."""
        with open(self.errors, encoding='utf-8', errors='replace') as f:
            self.errors = -1
            return f.read()

    def kill(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(5)
        for fd in (self.writer, self.reader, self.errors):
            if fd >= 0:
                os.close(fd)
        self.writer = self.reader = self.errors = -1


class SocketClient(Client):
    """On NAME.sock."""

    def __init__(self, path):
        super().__init__()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.connect(str(path))
        self.reader = self.writer = self.socket.fileno()

    def close_input(self):
        self.socket.shutdown(socket.SHUT_WR)

    def close(self):
        self.socket.close()

    kill = close


def control_socket(path):
    """A bare connection to NAME.connect."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.settimeout(10)
    connection.connect(str(path))
    return connection
