/** Packs, tools, results and errors for programs. Written in Python: see `prelude.ts`. */
export const toolsPrelude = String.raw`
import ast, base64, builtins, collections, csv, datetime, enum, functools, gc, io, itertools, json, math, operator, os
import re, string, sys, textwrap, time, types, typing, urllib.parse

LEAST, GREATEST = -(2 ** 63), 2 ** 64 - 1
FILE = '<run>'
# Set by main(). bridge checks it as well; checking here reports the error before the items are converted.
limits = {}


class ToolError(Exception):
    """A tool returned an error."""


class ToolTimeout(ToolError, TimeoutError):
    """A tool timed out."""


class ToolNotFound(ToolError, AttributeError):
    """A pack has no such tool."""


class Record(dict):
    """An object in a result. Its fields are items, and attributes unless dict has such a method."""
    __slots__ = ()

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            pass
        fields = [str(key) for key in self]
        known = ', '.join(fields[:30]) + (f' (and {len(fields) - 30} more)' if len(fields) > 30 else '')
        raise AttributeError(f"This result has no field '{name}'. Fields: {known or 'none'}")

    def __setattr__(self, name, value):
        self[name] = value

    def __delattr__(self, name):
        del self[name]


# Bound here, so that programs can patch the originals.
dumps, loads, read, write = json.dumps, json.loads, os.read, os.write


def send(message):
    data = dumps(message, allow_nan=False).encode() + b'\n'
    while data:
        data = data[write(2, data):]


def receive():
    size = int(read(0, 8), 16)
    parts = []
    while size > 0:
        part = read(0, size)
        size -= len(part)
        parts.append(part)
    return loads(b''.join(parts), object_hook=Record)


ERRORS = {kind.__name__: kind for kind in (ToolError, ToolTimeout, ToolNotFound, TypeError, ValueError, NameError)}


def request(message):
    send(message)
    reply = receive()
    if 'error' in reply:
        raise ERRORS.get(reply['error']['type'], ToolError)(reply['error']['message'])
    return reply['ok']


class Tool:
    """A tool of a pack. batch() makes many calls in parallel."""

    def __init__(self, pack, name):
        self.__pack, self.__name = pack, name

    def __call__(self, *args, **kwargs):
        return request({'call': [self.__pack, self.__name, argument(args), argument(kwargs)]})

    def batch(self, *args, **kwargs):
        items = args[0] if args else kwargs.get('items')
        if isinstance(items, (list, tuple, set, frozenset)) and len(items) > limits['calls']:
            most = limits['calls']
            raise ToolError(f'batch() got {len(items)} items, and a run may make {most} calls. Pass fewer items.')
        return request({'batch': [self.__pack, self.__name, argument(args), argument(kwargs)]})

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return Tool(self.__pack, f'{self.__name}.{name}')

    def __repr__(self):
        return f'<tool {self.__pack}.{self.__name}>'


class Pack:
    """A named group of tools."""

    def __init__(self, name):
        self.__name = name

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return Tool(self.__name, name)

    def __repr__(self):
        return f'<pack {self.__name}>'
`;
