import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import {handshake, type Message, type Running, runBridge, server, startReady} from '../../helpers/bridge.js';
import {readLog, tempFolder} from '../../helpers/temp-folder.js';

/** Starts `bridge --cache-tools` and waits for the first notification about the list of tools. */
async function start(t: ExecutionContext, ...flags: string[]): Promise<Running> {
	const running = await startReady(['--cache-tools', ...flags, '--', ...server('toolbox')]);
	t.teardown(() => running.child.kill('SIGKILL'));
	await notified(running, 1);
	return running;
}

const isListChange = (line: string): boolean => line.includes('"method":"notifications/tools/list_changed"');

/** Waits until the client has received this number of notifications about the list of tools. */
async function notified(running: Running, times: number): Promise<void> {
	await running.message(() => running.lines.filter(isListChange).length >= times);
}

const call = (running: Running, id: number, name: string): Promise<Message> =>
	running.request(id, 'tools/call', {name});

/** Returns the number of `tools/list` requests that the server received. */
async function listRequests(running: Running, id: number): Promise<unknown> {
	const {result} = await call(running, id, 'asked');
	const [content] = objectOf(result).content as Message[];
	return content?.text;
}

const namesOf = ({result}: Message): unknown[] => (objectOf(result).tools as Message[]).map(({name}) => name);

test.serial('Cache tools/list: bridge --cache-tools requests each page once [GW-9]', async t => {
	const running = await start(t);
	t.is(await listRequests(running, 1), '2');
	t.is(await running.end(), 0);
});

test.serial('Serve cached tools/list: bridge --cache-tools returns all pages as one [GW-11]', async t => {
	const file = join(tempFolder(t), 'traffic.ndjson');
	const running = await start(t, '--log', file);
	for (const id of [1, 2, 3])
		t.deepEqual(namesOf(await running.request(id, 'tools/list')), ['grow', 'touch', 'break', 'asked']);
	t.is(await listRequests(running, 4), '2');
	await running.end();
	const lines = readLog(file).filter(({message}) => objectOf(message).method === 'tools/list');
	t.deepEqual(
		lines.map(({from, side}) => [from, side]),
		[
			['bridge', 'upstream'],
			['bridge', 'upstream'],
			['client', 'client'],
			['client', 'client'],
			['client', 'client'],
		],
	);
});

test.serial(
	'tools/list_changed notification: bridge --cache-tools notifies the client only of real changes [GW-10]',
	async t => {
		const running = await start(t);
		await call(running, 1, 'touch');
		await call(running, 2, 'grow');
		await notified(running, 2);
		const list = await running.request(3, 'tools/list');
		t.deepEqual(namesOf(list), ['grow', 'touch', 'break', 'asked', 'tool-4']);
		t.is(running.lines.filter(isListChange).length, 2);
		await running.end();
	},
);

test.serial(
	'bridge --cache-tools returns the previous list when the server fails to return one [C13]',
	async t => {
		const running = await start(t);
		await call(running, 1, 'break');
		await running.says(/"event":"tools\.stale"/);
		t.is(namesOf(await running.request(2, 'tools/list')).length, 4);
		t.like(await running.request(3, 'tools/list'), {error: {message: 'The toolbox is broken.'}});
		await running.end();
	},
);

test.serial('a client that closes its end at once still receives the list', async t => {
	const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
	const {code, stdout} = await runBridge(
		['--cache-tools', '--', ...server('toolbox')],
		[...handshake, list, ''].join('\n'),
	);
	t.is(code, 0);
	const response = stdout.map(line => JSON.parse(line) as Message).find(({id}) => id === 1);
	t.is(namesOf(response ?? {}).length, 4);
});

test.serial('without --cache-tools, bridge neither requests the list nor notifies the client', async t => {
	const running = await startReady(['--', ...server('toolbox')]);
	t.is(await listRequests(running, 1), '0');
	t.like(await running.request(2, 'tools/list'), {result: {nextCursor: 'rest'}});
	t.is(running.lines.filter(isListChange).length, 0);
	await running.end();
});

test.serial('rejects --cache-tools in a filter', async t => {
	const {code, stdout, stderr} = await runBridge(
		['--cache-tools'],
		'{"jsonrpc":"2.0","id":1,"method":"ping"}\n',
	);
	t.is(code, 2);
	t.deepEqual(stdout, []);
	t.regex(stderr, /--cache-tools is not valid for a filter/);
});
