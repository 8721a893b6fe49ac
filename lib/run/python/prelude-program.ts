/** How a program is run, and what it came to. In Python: see `prelude.ts`. */
export const programPrelude = String.raw`
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
    while isinstance(node, ast.Await):
        node = node.value
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


def as_function(tree, has_await):
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
    prefixes = ('async ', 'await ') if has_await else ('', '')
    function = ast.parse('%sdef __run__(): pass\n__value__ = %s__run__()' % prefixes, FILE)
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
    has_await = is_async(tree.body)
    has_return = any(isinstance(node, ast.Return) for node in own_nodes(tree.body))
    names = result_names(tree.body, packs) if isinstance(last, ASSIGNMENTS) else []
    accept_data(tree)
    if has_return:
        tree = as_function(tree, has_await)
    elif isinstance(last, ast.Expr):
        target = ast.Name('__value__', ast.Store())
        tree.body[-1] = ast.fix_missing_locations(ast.copy_location(ast.Assign([target], last.value), last))
    compiled = compile(tree, FILE, 'exec', ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if has_await else 0, dont_inherit=True)
    running = eval(compiled, scope)
    if has_await:
        nested(running, Loop())
    if isinstance(last, ast.Expr) or (has_return and scope['__value__'] is not None):
        return shown(finished(scope['__value__']))
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
    limits['calls'] = request['max_calls']
    module = types.ModuleType('__main__')
    sys.modules['__main__'] = module
    scope = module.__dict__
    scope.update(__builtins__=builtins, ToolError=ToolError, ToolTimeout=ToolTimeout, ToolNotFound=ToolNotFound)
    scope['__awaitable__'] = awaitable
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
    try:
        say(outcome)
    except MemoryError as error:
        del outcome
        scope.clear()
        gc.collect()
        say({'fail': described(error)})


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
