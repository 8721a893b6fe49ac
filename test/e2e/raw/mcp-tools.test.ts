import {existsSync, readdirSync, statSync} from 'node:fs';
import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {freePort} from '../../helpers/free-port.js';
import {newFolder, until} from '../../helpers/program.js';
import {ask, call, done, failureOf, postText, textOf} from './control.js';
import {linesIn, shareRaw, startRaw} from './support.js';
import {dial, exchange, startEcho} from './tcp.js';

const shared = shareRaw(echo => ['--mcp-port', '0', '--flush-millis', '20', `0:127.0.0.1:${echo}`]);

const newLogs = async (t: ExecutionContext): Promise<string> => join(await newFolder(t), 'logs');

/** Whether the shared bridge still forwards and responds. */
const isServing = async (): Promise<boolean> =>
	String((await exchange(shared().port, 'probe')).reply) === 'probe' &&
	(await ask(shared().endpoint, 'ping')).result !== undefined;

test('tools/call runs the named tool with the arguments [REQ_MCP_010]', async t => {
	const directory = await newLogs(t);
	const params = {name: 'start-logging', arguments: {directory}};
	t.truthy((await ask(shared().endpoint, 'tools/call', params)).result);
	await done(shared().endpoint, 'stop-logging', {directory});
	t.is(linesIn(directory)[0]?.directory, directory);
});

test('responds to a failed tool call with a JSON-RPC error over HTTP 200 [REQ_MCP_011]', async t => {
	const body = JSON.stringify({
		jsonrpc: '2.0',
		method: 'tools/call',
		id: 3,
		params: {name: 'remove-port-rule', arguments: {local_port: 1}},
	});
	const {status, message} = await postText(shared().endpoint, body);
	t.is(status, 200);
	t.is(message.id, 3);
	t.is(message.result, undefined);
	const {code, message: text} = failureOf(message);
	t.true(Number.isInteger(code) && code < 0);
	t.regex(text, /1/);
});

test('start-logging starts a log in a folder with names of the format [REQ_MCP_012]', async t => {
	const directory = await newLogs(t);
	await done(shared().endpoint, 'start-logging', {directory, filename_format: 'mine.ndjson'});
	await exchange(shared().port, 'into mine');
	await done(shared().endpoint, 'stop-logging', {directory});
	t.deepEqual(readdirSync(directory), ['mine.ndjson']);
	t.true(linesIn(directory).some(({data}) => data === 'into mine'));
});

test('stop-logging stops one destination, or all of them [A-D18] [REQ_MCP_013]', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const raw = await startRaw(t, ['--mcp-port', '0', '--flush-millis', '20', `0:127.0.0.1:${echo.port}`]);
	const [one, two, last] = [await newLogs(t), await newLogs(t), await newLogs(t)];
	for (const directory of [one, two, null]) await done(raw.endpoint, 'start-logging', {directory});
	/** Forwards a text, stops `destination` once it contains the text, and returns all destinations with it. */
	const loggedIn = async (text: string, destination: string): Promise<string[]> => {
		await exchange(raw.port, text);
		const has = (lines: ReadonlyArray<{readonly data?: string}>) => lines.some(({data}) => data === text);
		await until(() => has(linesIn(destination)));
		// stop-logging flushes the destination before the response.
		await done(raw.endpoint, 'stop-logging', {directory: destination});
		return [
			...[one, two, last].filter(folder => has(linesIn(folder))),
			...(has(raw.lines) ? ['stdout'] : []),
		];
	};
	await done(raw.endpoint, 'stop-logging', {directory: one});
	t.deepEqual((await loggedIn('to two', two)).slice(0, 1), [two]);
	for (const directory of [one, two]) await done(raw.endpoint, 'start-logging', {directory});
	await done(raw.endpoint, 'stop-logging', {});
	for (const folder of [one, two]) t.is(linesIn(folder).at(-1)?.event, 'stop-logging');
	await until(() => raw.lines.at(-1)?.event === 'stop-logging');
	await done(raw.endpoint, 'start-logging', {directory: last});
	t.deepEqual(await loggedIn('to none of them', last), [last]);
});

test('add-port-rule adds a rule [REQ_MCP_014]', async t => {
	const local_port = await freePort();
	const args = {local_port, target_host: '127.0.0.1', target_port: shared().echo.port};
	await done(shared().endpoint, 'add-port-rule', args);
	t.is(String((await exchange(local_port, 'x')).reply), 'x');
});

test('remove-port-rule removes the rule of a port [REQ_MCP_015]', async t => {
	const local_port = await freePort();
	const args = {local_port, target_host: '127.0.0.1', target_port: shared().echo.port};
	await done(shared().endpoint, 'add-port-rule', args);
	await done(shared().endpoint, 'remove-port-rule', {local_port});
	await t.throwsAsync(dial(local_port), {code: 'ECONNREFUSED'});
});

test('the tool shutdown ends the process [REQ_MCP_016]', async t => {
	const echo = await startEcho();
	t.teardown(() => echo.close());
	const raw = await startRaw(t, ['--mcp-port', '0', `0:127.0.0.1:${echo.port}`]);
	t.true((await done(raw.endpoint, 'shutdown')).length > 0);
	t.is((await raw.running.exited).code, 0);
	await t.throwsAsync(dial(raw.port), {code: 'ECONNREFUSED'});
});

test('responds to a successful tool call with a text that names the folder [REQ_MCP_017]', async t => {
	const directory = await newLogs(t);
	for (const name of ['start-logging', 'stop-logging']) {
		const response = await call(shared().endpoint, name, {directory});
		t.is(response.error, undefined);
		t.true(textOf(response).includes(directory), textOf(response));
	}
});

test('tools/call requires a name and accepts missing arguments of tools without required ones [REQ_MCP_030]', async t => {
	const raw = await startRaw(t, ['--mcp-port', '0']);
	t.is(failureOf(await ask(raw.endpoint, 'tools/call', {})).code, -32602);
	t.is(failureOf(await ask(raw.endpoint, 'tools/call', {name: 7, arguments: {}})).code, -32602);
	t.is(failureOf(await ask(raw.endpoint, 'tools/call', {name: 'stop-logging', arguments: []})).code, -32602);
	t.is(failureOf(await ask(raw.endpoint, 'tools/call', {name: 'stop-logging', arguments: 'x'})).code, -32602);
	textOf(await ask(raw.endpoint, 'tools/call', {name: 'stop-logging'}));
	textOf(await ask(raw.endpoint, 'tools/call', {name: 'shutdown'}));
	t.is((await raw.running.exited).code, 0);
});

for (const name of ['no-such-tool', 'constructor', '__proto__', '', 'SHUTDOWN'])
	test(`rejects the unknown tool ${JSON.stringify(name)} [REQ_MCP_030]`, async t => {
		t.is(failureOf(await call(shared().endpoint, name)).code, -32602);
		t.true(await isServing());
	});

test('add-port-rule rejects a missing argument and names it [REQ_MCP_031]', async t => {
	const local_port = await freePort();
	const complete = {local_port, target_host: '127.0.0.1', target_port: 9};
	for (const key of ['local_port', 'target_host', 'target_port'] as const) {
		const {[key]: _, ...rest} = complete;
		const {code, message} = failureOf(await call(shared().endpoint, 'add-port-rule', rest));
		t.is(code, -32602);
		t.true(message.includes(key), message);
	}
	await t.throwsAsync(dial(local_port), {code: 'ECONNREFUSED'});
});

test('remove-port-rule rejects a missing port and names it [REQ_MCP_032]', async t => {
	const {code, message} = failureOf(await call(shared().endpoint, 'remove-port-rule', {}));
	t.is(code, -32602);
	t.regex(message, /local_port/);
});

test('responds to at least one of two concurrent shutdowns and exits once [REQ_MCP_016]', async t => {
	const raw = await startRaw(t, ['--mcp-port', '0']);
	await t.notThrowsAsync(Promise.any([done(raw.endpoint, 'shutdown'), done(raw.endpoint, 'shutdown')]));
	t.deepEqual(await raw.running.exited, {code: 0, signal: null});
});

test('shutdown accepts empty arguments [REQ_MCP_033]', async t => {
	const raw = await startRaw(t, ['--mcp-port', '0']);
	t.true((await done(raw.endpoint, 'shutdown', {})).length > 0);
	t.is((await raw.running.exited).code, 0);
});

for (const filename_format of [
	'a/b',
	'../x',
	'..',
	'.',
	'',
	'x\u0000y',
	'/etc/passwd',
	'%Y/%m',
	7,
	null,
	'\\..\\x',
	'x'.repeat(300),
	'é%Y'.repeat(50),
])
	test(`start-logging rejects the format ${JSON.stringify(filename_format).slice(0, 30)}, which does not name a file in the folder [I6]`, async t => {
		const directory = await newLogs(t);
		const response = await call(shared().endpoint, 'start-logging', {directory, filename_format});
		t.is(failureOf(response).code, -32602);
		t.false(existsSync(directory));
		t.true(await isServing());
	});

for (const directory of ['', 'x\u0000y', '/dev/null/logs', '/proc/logs', 7, true, {}, ['x']])
	test(`start-logging rejects the folder ${JSON.stringify(directory)} [I6]`, async t => {
		const {message} = failureOf(await call(shared().endpoint, 'start-logging', {directory}));
		t.true(message.length > 0);
		t.true(await isServing());
	});

test('start-logging rejects a folder that is a file and leaves the file unchanged [I6]', async t => {
	const directory = join(await newFolder(t), 'file');
	await writeFile(directory, 'mine');
	failureOf(await call(shared().endpoint, 'start-logging', {directory}));
	t.is(await readFile(directory, 'utf8'), 'mine');
	t.true(await isServing());
});

test('start-logging appends to an existing log and creates new files with mode 0600 [I6]', async t => {
	const directory = await newLogs(t);
	await mkdir(directory);
	const old = '{"time":"2026-11-16T19:36:32.925754Z","event":"gap","lines":1,"bytes":1}\n';
	await writeFile(join(directory, 'log.ndjson'), old);
	for (const filename_format of ['log.ndjson', 'new.ndjson']) {
		await done(shared().endpoint, 'start-logging', {directory, filename_format});
		await done(shared().endpoint, 'stop-logging', {directory});
	}
	const text = await readFile(join(directory, 'log.ndjson'), 'utf8');
	t.true(text.startsWith(`${old}{"time"`));
	t.is(statSync(join(directory, 'new.ndjson')).mode & 0o777, 0o600);
});

test('start-logging does not overwrite the target of a symbolic link at the log file [I6]', async t => {
	const folder = await newFolder(t);
	const [directory, elsewhere] = [join(folder, 'logs'), join(folder, 'elsewhere')];
	await mkdir(directory);
	await writeFile(elsewhere, 'precious\n');
	await symlink(elsewhere, join(directory, 'log.ndjson'));
	await call(shared().endpoint, 'start-logging', {directory, filename_format: 'log.ndjson'});
	await exchange(shared().port, 'x');
	await call(shared().endpoint, 'stop-logging', {directory});
	t.true((await readFile(elsewhere, 'utf8')).startsWith('precious\n'));
	t.true(await isServing());
});
