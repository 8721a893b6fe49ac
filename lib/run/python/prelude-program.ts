/** Runs a program and sends its outcome. Written in Python: see `prelude.ts`. */
export const programPrelude = String.raw`
def own_nodes(body):
    """All nodes of a program outside its functions and classes."""
    pending = list(body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            pending.extend(ast.iter_child_nodes(node))


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
    """The variables that received the result of a call or of the last statement."""
    names = []
    for node in body:
        is_result = isinstance(node, ASSIGNMENTS) and (node is body[-1] or is_pack_call(node.value, packs))
        for name in targets_of(node) if is_result else ():
            if name not in names:
                names.append(name)
    return names


def as_function(tree, has_await):
    """Wraps a program with a top-level return into a function that assigns global names."""
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
    """Runs a program and returns its rendered value."""
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
        return rendered(result_of(scope['__value__']))
    found = {name: scope[name] for name in names if name in scope}
    if not found:
        return {'kind': 'none'}
    return rendered(found if len(found) > 1 else next(iter(found.values())))


def error_details(error):
    line = None
    trace = error.__traceback__
    while trace:
        if trace.tb_frame.f_code.co_filename == FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    try:
        message = str(error)
    except BaseException:
        message = 'The error has no message.'
    if isinstance(error, SyntaxError) and error.filename == FILE:
        line, message = error.lineno, error.msg
    name = error.name if type(error) is NameError else None
    return {'type': type(error).__name__, 'message': message[:4000], 'line': line, 'name': name}


def main():
    request = receive()
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
        outcome = {'done': {'kind': 'none'}} if end.code in (None, 0) else {'fail': error_details(end)}
    except BaseException as error:
        failure = error_details(error)
        del error
        if failure['type'] == 'MemoryError':
            scope.clear()
            gc.collect()
        outcome = {'fail': failure}
    try:
        send(outcome)
    except MemoryError as error:
        del outcome
        scope.clear()
        gc.collect()
        send({'fail': error_details(error)})


# Unbuffered, so that the output of a terminated program is not lost.
raw_output = io.FileIO(1, 'wb', closefd=False)
sys.stdout = sys.stderr = io.TextIOWrapper(raw_output, encoding='utf-8', newline='\n', write_through=True)
sys.stdin = io.StringIO('')
sys.argv = ['']
assert 'random' not in sys.modules
gc.collect()
gc.freeze()
send({'ready': [id(types.FunctionType), id(main), id(())]})
time.time()
`;
