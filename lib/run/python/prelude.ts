/**
 * What the interpreter runs before any program: everything a program is given, and how it speaks with this side. It ends
 * where a copy of the interpreter's memory is taken (`worker.ts`), so what it imports costs no program anything.
 * `random` must not be among that: all programs would get the same numbers.
 *
 * File 0 is what this side says: eight hexadecimal digits with a length, then JSON. File 1 is what the program prints,
 * file 2 takes JSON, a line a message.
 */
export const prelude = String.raw`
import ast, base64, builtins, collections, csv, datetime, enum, functools, gc, io, itertools, json, math, operator, os
import re, string, sys, textwrap, time, types, typing, urllib.parse

BIGGEST = 2 ** 53 - 1
FILE = '<run>'


class ToolError(Exception):
    """What a tool answers with when it fails."""


class ToolTimeout(ToolError, TimeoutError):
    """A tool took too long."""


class ToolNotFound(ToolError, AttributeError):
    """A pack has no such tool."""


class Record(dict):
    """An object in a result: its fields are items and, where dict has no such method, attributes."""
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


def say(message):
    data = json.dumps(message, allow_nan=False).encode() + b'\n'
    while data:
        data = data[os.write(2, data):]


def hear():
    size = int(os.read(0, 8), 16)
    parts = []
    while size > 0:
        part = os.read(0, size)
        size -= len(part)
        parts.append(part)
    return json.loads(b''.join(parts), object_hook=Record)


ERRORS = {kind.__name__: kind for kind in (ToolError, ToolTimeout, ToolNotFound, TypeError, ValueError, NameError)}


def ask(message):
    say(message)
    answer = hear()
    if 'error' in answer:
        raise ERRORS.get(answer['error']['type'], ToolError)(answer['error']['message'])
    return answer['ok']


class Tool:
    """A tool of a pack. Call it, or call it many times at once with batch()."""

    def __init__(self, pack, name):
        self.__pack, self.__name = pack, name

    def __call__(self, *args, **kwargs):
        return ask({'call': [self.__pack, self.__name, argument(args), argument(kwargs)]})

    def batch(self, *args, **kwargs):
        return ask({'batch': [self.__pack, self.__name, argument(args), argument(kwargs)]})

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return Tool(self.__pack, f'{self.__name}.{name}')

    def __repr__(self):
        return f'<tool {self.__pack}.{self.__name}>'


class Pack:
    """Tools under one name."""

    def __init__(self, name):
        self.__name = name

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return Tool(self.__name, name)

    def __repr__(self):
        return f'<pack {self.__name}>'


def argument(value):
    """A value as JSON that means the same to every server, or an error."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        if not -BIGGEST <= value <= BIGGEST:
            raise ValueError(f'{value} is too large for a number in JSON. Pass it as text.')
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f'{value} is no number in JSON.')
        return value
    if isinstance(value, dict):
        return {key_of(key): argument(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [argument(item) for item in value]
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, enum.Enum):
        return argument(value.value)
    raise TypeError(f'A tool cannot be given a {type(value).__name__}: pass text, numbers, lists or dicts.')


def key_of(key):
    if key is None or isinstance(key, bool):
        return json.dumps(key)
    return key if isinstance(key, str) else str(key)


VIEWS = type({}.keys()), type({}.values()), type({}.items())
LAZY = (range, map, filter, zip, enumerate, reversed, types.GeneratorType, *VIEWS)


def plain(value):
    """A value as JSON, as near to it as JSON comes."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key_of(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, collections.deque)) or isinstance(value, LAZY):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if hasattr(type(value), '__dataclass_fields__'):
        return {name: plain(getattr(value, name)) for name in type(value).__dataclass_fields__}
    return str(value)


def shown(value):
    """A value as a reader gets it: text as it is, all else as JSON."""
    if isinstance(value, str):
        return {'kind': 'text', 'text': str(value)}
    try:
        text = json.dumps(plain(value), ensure_ascii=False, separators=(',', ':'), allow_nan=False)
    except RecursionError:
        return {'kind': 'text', 'text': str(value)}
    return {'kind': 'json', 'text': re.sub('[\ud800-\udfff]', lambda half: f'\\u{ord(half[0]):04x}', text)}


def own_nodes(body):
    """All nodes of a program that are not within its functions and classes."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


def targets_of(node):
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def is_pack_call(node, packs):
    if not isinstance(node, ast.Call):
        return False
    root = node.func
    while isinstance(root, ast.Attribute):
        root = root.value
    return root is not node.func and isinstance(root, ast.Name) and root.id in packs


ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)


def result_names(body, packs):
    """Names that got what a call gave, and those that the program ends with."""
    names = []
    for node in body:
        is_result = isinstance(node, ASSIGNMENTS) and (node is body[-1] or is_pack_call(node.value, packs))
        for name in targets_of(node) if is_result else ():
            if name not in names:
                names.append(name)
    return names


def as_function(tree):
    """A program with return at its top is the body of a function, the names in it being global still."""
    names = set()
    for node in own_nodes(tree.body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name.split('.')[0]) for alias in node.names)
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            names.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest:
            names.add(node.rest)
    names.discard('*')
    function = ast.parse('def __run__(): pass\n__value__ = __run__()', FILE)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.copy_location(ast.Return(last.value), last)
    function.body[0].body = ([ast.Global(sorted(names))] if names else []) + tree.body
    return ast.fix_missing_locations(function)


def execute(code, packs, scope):
    """Runs a program, and gives what it came to."""
    tree = ast.parse(code, FILE)
    if not tree.body:
        return {'kind': 'none'}
    last = tree.body[-1]
    has_return = any(isinstance(node, ast.Return) for node in own_nodes(tree.body))
    names = result_names(tree.body, packs) if isinstance(last, ASSIGNMENTS) else []
    if has_return:
        tree = as_function(tree)
    elif isinstance(last, ast.Expr):
        target = ast.Name('__value__', ast.Store())
        tree.body[-1] = ast.fix_missing_locations(ast.copy_location(ast.Assign([target], last.value), last))
    exec(compile(tree, FILE, 'exec', dont_inherit=True), scope)
    if isinstance(last, ast.Expr) or (has_return and scope['__value__'] is not None):
        return shown(scope['__value__'])
    found = {name: scope[name] for name in names if name in scope}
    if not found:
        return {'kind': 'none'}
    return shown(found if len(found) > 1 else next(iter(found.values())))


def described(error):
    line = None
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    try:
        message = str(error)
    except BaseException:
        message = 'The error has no text.'
    if isinstance(error, SyntaxError) and error.filename == FILE:
        line, message = error.lineno, error.msg
    name = error.name if type(error) is NameError else None
    return {'type': type(error).__name__, 'message': message[:4000], 'line': line, 'name': name}


def main():
    request = hear()
    module = types.ModuleType('__main__')
    sys.modules['__main__'] = module
    scope = module.__dict__
    scope.update(__builtins__=builtins, ToolError=ToolError, ToolTimeout=ToolTimeout, ToolNotFound=ToolNotFound)
    scope.update({name: Pack(name) for name in request['packs']})
    try:
        outcome = {'done': execute(request['code'], set(request['packs']), scope)}
    except SystemExit as end:
        outcome = {'done': {'kind': 'none'}} if end.code in (None, 0) else {'fail': described(end)}
    except BaseException as error:
        failure = described(error)
        del error
        if failure['type'] == 'MemoryError':
            scope.clear()
            gc.collect()
        outcome = {'fail': failure}
    say(outcome)


# What is printed goes out at once: a program that is ended has not printed in vain.
screen = io.FileIO(1, 'wb', closefd=False)
sys.stdout = sys.stderr = io.TextIOWrapper(screen, encoding='utf-8', newline='\n', write_through=True)
sys.stdin = io.StringIO('')
sys.argv = ['']
assert 'random' not in sys.modules
gc.collect()
gc.freeze()
say({'ready': [id(types.FunctionType), id(main), id(())]})
time.time()
`;
