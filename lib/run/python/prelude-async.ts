/** Coroutine support without sockets and threads. Written in Python: see `prelude.ts`. */
export const asyncPrelude = `
import asyncio, asyncio.runners

DATA_TYPES = (type(None), bool, int, float, str, bytes, list, tuple, dict, set, frozenset)


async def resolved(value):
    return value


def awaitable(value):
    """Tool calls return data synchronously, but models often await them."""
    return resolved(value) if isinstance(value, DATA_TYPES) else value


class Clock:
    """The selector of a loop. It has only timers, no files and sockets."""

    def select(self, timeout):
        if timeout is None:
            raise RuntimeError('The program waits for an event that can never occur.')
        if timeout > 0:
            time.sleep(timeout)
        return []


class Loop(asyncio.BaseEventLoop):
    def __init__(self):
        super().__init__()
        self._selector = Clock()

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass

    def create_task(self, coro, **options):
        return super().create_task(awaitable(coro), **options)

    def run_until_complete(self, future):
        if asyncio._get_running_loop():
            return nested(future, Loop())
        return super().run_until_complete(awaitable(future))

    def run_in_executor(self, executor, func, *args):
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def default_exception_handler(self, context):
        error = context.get('exception')
        details = '' if error is None else f' {type(error).__name__}: {error}'
        print(f"{context.get('message')}{details}", file=sys.stderr)


class Policy(asyncio.events.BaseDefaultEventLoopPolicy):
    _loop_factory = Loop


def nested(main, loop):
    """Runs a coroutine to completion, even inside a running loop."""
    outer = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        return asyncio.BaseEventLoop.run_until_complete(loop, awaitable(main))
    finally:
        asyncio._set_running_loop(outer)


def run(main, *, debug=None, loop_factory=None):
    loop = Loop()
    try:
        return nested(main, loop)
    finally:
        outer = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        asyncio.runners._cancel_all_tasks(loop)
        loop.close()
        asyncio._set_running_loop(outer)


def first_awaitable(function):
    return functools.wraps(function)(lambda first, *args, **kwargs: function(awaitable(first), *args, **kwargs))


def each_awaitable(function):
    return functools.wraps(function)(lambda *args, **kwargs: function(*map(awaitable, args), **kwargs))


def all_futures(function):
    def call(awaitables, **kwargs):
        return function([asyncio.ensure_future(one) for one in awaitables], **kwargs)
    return functools.wraps(function)(call)


asyncio.set_event_loop_policy(Policy())
asyncio.run = run
asyncio.gather = each_awaitable(asyncio.gather)
for name in 'ensure_future', 'shield', 'wait_for':
    setattr(asyncio, name, first_awaitable(getattr(asyncio, name)))
for name in 'as_completed', 'wait':
    setattr(asyncio, name, all_futures(getattr(asyncio, name)))

ASYNC = (ast.Await, ast.AsyncFor, ast.AsyncWith)


def is_async(body):
    """Whether a program uses await outside its functions."""
    return any(isinstance(node, ASYNC) or getattr(node, 'is_async', 0) for node in own_nodes(body))


def accept_data(tree):
    """Allows await on data everywhere in a program."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Await):
            name = ast.copy_location(ast.Name('__awaitable__', ast.Load()), node.value)
            node.value = ast.copy_location(ast.Call(name, [node.value], []), node.value)


def result_of(value):
    """Awaits the value of a program if it is a coroutine or a future."""
    if isinstance(value, types.CoroutineType):
        return nested(value, Loop())
    if isinstance(value, asyncio.Future):
        return nested(value, value.get_loop())
    return value
`;
