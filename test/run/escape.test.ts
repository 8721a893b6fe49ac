import {mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import type {RunResult} from '../../lib/run/types.js';
import {pack, runnerOf, textOf} from './support.js';

const packs = [pack('wix', {echo: args => args, name: () => 'wix'})];
const runner = runnerOf(packs, {runTimeoutMs: 600_000, maxConcurrent: 2, maxQueued: 1000});
test.after.always(() => runner.close());

/** Checks that the runner still works after the previous program. */
const nextRunWorks = async (t: ExecutionContext): Promise<void> => {
	t.is(textOf(await runner.run('sorted([3, 1, 2])')), '[1,2,3]');
};

const fails = async (t: ExecutionContext, program: string, type: string): Promise<RunResult> => {
	const result = await runner.run(program);
	t.true(result.isError);
	t.is(result.structuredContent.error?.type, type, textOf(result));
	await nextRunWorks(t);
	return result;
};

const canary = 'canary-in-the-coal-mine';
const folder = mkdtempSync(join(tmpdir(), 'bridge-run-'));
test.after.always(() => rmSync(folder, {recursive: true, force: true}));
const file = join(folder, 'canary.txt');
writeFileSync(file, canary);
process.env.BRIDGE_CANARY = canary;

/** A program that prints the value of the expression, or its error. */
const attempt = (expression: string): string =>
	`import sys\ntry:\n  print(${expression})\nexcept BaseException as error:\n  print(type(error).__name__, error)`;

for (const expression of [
	`open(${JSON.stringify(file)}).read()`,
	`open("../../../../../../..${file}").read()`,
	'open("/proc/self/environ").read()',
	'open("/etc/passwd").read()',
	`__import__("os").listdir(${JSON.stringify(folder)})`,
	`__import__("pathlib").Path(${JSON.stringify(file)}).read_text()`,
	`__import__("os").open(${JSON.stringify(file)}, 0)`,
	`__import__("shutil").copy(${JSON.stringify(file)}, "/tmp/x")`,
	`__import__("runpy").run_path(${JSON.stringify(file)})`,
	'dict(__import__("os").environ)',
	'__import__("os").getenv("BRIDGE_CANARY")',
	'__import__("subprocess").check_output(["cat", "/etc/hostname"])',
	'__import__("os").popen("env").read()',
	'__import__("os").execv("/bin/sh", ["sh"])',
	'__import__("posix").fork()',
	'__import__("_posixsubprocess").fork_exec',
	'__import__("ctypes").CDLL(None)',
	'__import__("multiprocessing").Process(target=print).start()',
	'__import__("mmap").mmap(-1, 10)',
	'__import__("js")',
	'__import__("pyodide")',
	'__import__("os").read(3, 10)',
	'[__import__("os").read(fd, 10) for fd in range(3, 20)]',
	'().__class__.__base__.__subclasses__()[0].__init__.__globals__',
	'wix.__class__.__init__.__globals__["os"].listdir("/")',
	'wix.echo.__call__.__globals__["os"].environ',
	'__import__("urllib.request").request.urlopen("http://127.0.0.1").read()',
]) {
	test(`reveals nothing about the host: ${expression.replaceAll(folder, '…')} [J2]`, async t => {
		const {content, isError} = await runner.run(attempt(expression));
		t.false(isError);
		t.notRegex(JSON.stringify(content), /canary-in|root:|PATH=|bridge-run-.*txt',/);
	});
}

test('blocks all network connections [J2]', async t => {
	let connections = 0;
	const server = createServer(socket => {
		connections++;
		socket.destroy();
	});
	await new Promise<void>(resolve => {
		server.listen(0, '127.0.0.1', resolve);
	});
	const address = server.address();
	const port = typeof address === 'object' ? address?.port : 0;
	for (const expression of [
		`__import__("socket").create_connection(("127.0.0.1", ${port}))`,
		`__import__("_socket").socket().connect(("127.0.0.1", ${port}))`,
		`__import__("http.client").client.HTTPConnection("127.0.0.1", ${port}).request("GET", "/")`,
	]) {
		t.regex(textOf(await runner.run(attempt(expression))), /Error/);
	}
	t.is(connections, 0);
	server.close();
});

test('passes only plain JSON values to programs [J2]', async t => {
	const program =
		'r = wix.echo(a=[1, {"b": None}])\n[type(r).__mro__[1].__name__, type(r.a).__name__, type(r.a[1].b).__name__]';
	t.is(textOf(await runner.run(program)), '["dict","list","NoneType"]');
});

for (const line of [
	'garbage',
	'null',
	'[]',
	'"text"',
	'{}',
	'{"unknown": 1}',
	'{"call": 5}',
	'{"call": []}',
	'{"call": ["wix", "echo"]}',
	'{"call": ["wix", 5, [], {}]}',
	'{"call": ["wix", "echo", {}, {}]}',
	'{"batch": ["wix", "echo", [], null]}',
	'{"done": 5}',
	'{"done": {"kind": "json", "text": "{bad"}}',
	'{"done": {"kind": "json"}}',
	'\u0000\u0001',
]) {
	test(`ends a program that forges the message ${JSON.stringify(line.slice(0, 40))} [J2]`, async t => {
		const program = `import os\nos.write(2, ${JSON.stringify(line)}.encode() + b"\\n")\nwhile True: pass`;
		await fails(t, program, 'InterpreterError');
	});
}

test('ends a program that forges a call that is nested too deeply [J2]', async t => {
	await fails(t, 'import os\nos.write(2, b"[" * 5000 + b"\\n")\nwhile True: pass', 'OutputLimit');
});

test('ends a program that writes an endless line [J2]', async t => {
	await fails(t, 'import os\nwhile True: os.write(2, b"x" * 1_000_000)', 'OutputLimit');
});

test('does not treat forged keys as prototypes [J2]', async t => {
	const forged = '{"call": ["wix", "echo", [], {"__proto__": {"polluted": true}, "constructor": 1}]}';
	const program = `import os, json\nos.write(2, ${JSON.stringify(forged)}.encode() + b"\\n")\nn = int(os.read(0, 8), 16)\nos.read(0, n).decode()`;
	const text = textOf(await runner.run(program));
	t.deepEqual(JSON.parse(text), JSON.parse('{"ok": {"__proto__": {"polluted": true}, "constructor": 1}}'));
	t.is(Reflect.get({}, 'polluted'), undefined);
});
