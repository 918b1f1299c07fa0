# SPDX-License-Identifier: LGPL-2.1-or-later
"""The shapes of JSON that mcpctl(1) documents, and whether an answer has them."""

import re

# Members whose value is another program's, or has names for keys.
FREE = ('inputSchema', 'server_info', 'rlimits')


def documented(manual):
    """Of the text of mcpctl(1): verb → its shapes, each a set of members; and under '' those that all have in common."""
    section = manual.partition('.Sh JSON')[2].partition('.Sh ENVIRONMENT')[0]
    verbs, _, common = section.partition('Problems are an array of')
    found = {'': read_shapes(common)}
    for item in verbs.split('\n.It Cm ')[1:]:
        names, _, text = item.partition('\n')
        for name in names.split(' , '):
            found[name.strip()] = read_shapes(text)
    return found


def read_shapes(text):
    flat = text.replace('{error: {', '{error} {').replace('}}', '}')
    return [frozenset(s.replace(' ', '').split(',')) for s in re.findall(r'\{([a-z][A-Za-z_, ]*)\}', flat)]


def undocumented(value, shapes, path=''):
    """Every object whose members are no documented shape, in words."""
    if isinstance(value, dict):
        if frozenset(value) not in shapes:
            yield f'{path or "the answer"} has the members {sorted(value)}, which are documented nowhere'
        for key, member in value.items():
            if key not in FREE:
                yield from undocumented(member, shapes, f'{path}/{key}')
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from undocumented(item, shapes, f'{path}/{i}')
