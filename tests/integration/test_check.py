# SPDX-License-Identifier: LGPL-2.1-or-later
"""mcpctl check says what a start then does, whatever the kernel's Landlock can do."""

import functools

import world
from checks import predicted
from harness import case


def as_predicted(abi, where):
    """The manager's environment is the supervisor's, and what mcpctl goes by."""
    where.systemctl('set-environment', f'MCP_TEST_LANDLOCK_ABI={abi}')
    try:
        predicted(where, abi)
    finally:
        where.systemctl('unset-environment', 'MCP_TEST_LANDLOCK_ABI')


for forced in range(world.landlock_abi() + 1):
    function = functools.partial(as_predicted, forced)
    function.__module__, function.__name__ = __name__, f'check tells what a start does, ABI {forced}'
    case(function, timeout=60)
