# SPDX-License-Identifier: LGPL-2.1-or-later
"""Failures inside a supervisor, by tests/fixtures/fail.c."""

import mmap
import os
import pathlib
import struct
import subprocess

from harness import eventually, expect
from world import FIXTURES

LIBRARY = pathlib.Path('/srv/mcp-cases/fail.so')
LAYOUT = struct.Struct('24siiii')


def build():
    if not LIBRARY.exists():
        LIBRARY.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            ['cc', '-O1', '-Wall', '-Wextra', '-Werror', '-D_GNU_SOURCE', '-shared', '-fPIC']
            + ['-o', str(LIBRARY), str(FIXTURES / 'fail.c')],
            check=True,
        )
        LIBRARY.chmod(0o755)


class Orders:
    """What is to fail in the supervisor of one server, which is restarted for it.

    In /dev/shm: the only place that the unit's mounts leave writable and that both sides see.
    """

    def __init__(self, server):
        build()
        self.server = server
        world = server.world
        self.path = pathlib.Path(f'/dev/shm/fail-{server.mark}')
        self.path.write_bytes(bytes(mmap.PAGESIZE))
        self.path.chmod(0o666)
        with open(self.path, 'r+b') as f:
            self.map = mmap.mmap(f.fileno(), mmap.PAGESIZE)
        self.directory = world.units / world.kind / f'{server.unit}.d'
        world.write(
            self.directory / '90-fail.conf',
            f'[Service]\nEnvironment=LD_PRELOAD={LIBRARY} MCP_FAIL_ORDER={self.path}\n',
        )
        world.reload()
        world.systemctl('restart', server.unit)
        expect(LAYOUT.unpack_from(self.map)[4] == 1, 'the library that makes calls fail is not loaded')

    def give(self, function, error, nth=1):
        """The nth call from now on fails."""
        LAYOUT.pack_into(self.map, 0, function.encode(), nth, error, 0, 1)

    def take_back(self):
        """Whether it was carried out."""
        _name, _countdown, _error, fired, _loaded = LAYOUT.unpack_from(self.map)
        LAYOUT.pack_into(self.map, 0, b'', 0, 0, 0, 1)
        return fired == 1

    def wait(self):
        eventually(lambda: LAYOUT.unpack_from(self.map)[3] == 1, 'the call that is to fail')

    def close(self):
        self.take_back()
        self.map.close()
        self.path.unlink()
        (self.directory / '90-fail.conf').unlink()
        os.rmdir(self.directory)
