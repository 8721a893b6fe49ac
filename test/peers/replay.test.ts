import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import test, {type ExecutionContext} from 'ava';
import {runBridge, startBridge} from '../helpers/bridge.js';
import {everythingScript} from './everything-script.js';
import {type Inspection, inspect} from './inspector.js';
import {bridgeFile, type Command, everything, peerUrl, temporaryFolder} from './peers.js';
import {newMarker} from './processes.js';
import {record} from './session.js';

/** Records an SDK session with server-everything. */
async function recorded(t: ExecutionContext) {
	t.timeout(180_000);
	const marker = newMarker(t);
	const folder = await temporaryFolder(t);
	const log = join(folder, 'session.ndjson');
	const {command, args} = everything(marker);
	const bridge = {command, args: [bridgeFile, '--log', log, '--', command, ...args]};
	const session = await record(t, bridge, everythingScript(), marker);
	return {log, folder, marker, session, server: [command, ...args]};
}

const played = (log: string): Command => ({
	command: process.execPath,
	args: [bridgeFile, 'replay', log, '--serve'],
});

test.serial(
	'replay finds no differences with the same server, and lists those of an older release',
	async t => {
		const {log, server} = await recorded(t);
		const same = await runBridge(['replay', log, '--', ...server]);
		t.is(same.code, 0, same.stdout.join('\n'));
		t.regex(same.stdout.at(-1) ?? '', /^✓ 96 compared: 96 same/);
		const old = fileURLToPath(peerUrl('everything-2025-06-18/dist/index.js'));
		const other = await runBridge(['replay', log, '--', process.execPath, old, 'stdio']);
		t.is(other.code, 1);
		const text = other.stdout.join('\n');
		for (const part of [
			'/result/serverInfo/version\n    - "2.0.0"\n    + "1.0.0"\n',
			'/result/tools/echo/description\n    - "Echoes back the input string"\n    + "Echoes back the input"\n',
			'/result/tools/get-sum  is missing\n',
			'/error  is new\n    + {"code":-32603,"message":"Unknown tool: get-sum"}\n',
		])
			t.true(text.includes(part), part);
	},
);

test.serial('replays the session of an older client with the same translation', async t => {
	t.timeout(180_000);
	const log = join(await temporaryFolder(t), 'older.ndjson');
	const {command, args} = everything(newMarker(t));
	const server = [command, ...args];
	const client = startBridge(['--log', log, '--', ...server]);
	const [protocolVersion, clientInfo] = ['2024-11-05', {name: 'older', version: '1'}];
	await client.request(1, 'initialize', {protocolVersion, capabilities: {}, clientInfo});
	client.send({method: 'notifications/initialized'});
	await client.request(2, 'tools/list');
	await client.request(3, 'tools/call', {name: 'echo', arguments: {message: 'hi'}});
	await client.end();
	const same = await runBridge(['replay', log, '--', ...server]);
	t.is(same.code, 0, same.stdout.join('\n'));
	t.regex(same.stdout.at(-1) ?? '', /^✓ 3 compared: 3 same/);
	const direct = await runBridge(['replay', log, '--side', 'upstream', '--', ...server]);
	t.is(direct.code, 0, direct.stdout.join('\n'));
});

test.serial('the SDK accepts a replayed server and gets the same messages', async t => {
	const {log, marker, session} = await recorded(t);
	const again = await record(t, played(log), everythingScript(), marker);
	t.deepEqual(again.steps, session.steps);
	const withoutIds = (messages: readonly unknown[]): unknown[] =>
		messages.map(message => ('method' in Object(message) ? {...Object(message), id: undefined} : message));
	t.deepEqual(withoutIds(again.received), withoutIds(session.received));
});

test.serial('the Inspector gets the same results from a replayed server, on stdio and over HTTP', async t => {
	t.timeout(180_000);
	const folder = await temporaryFolder(t);
	const log = join(folder, 'inspector.ndjson');
	const {command, args} = everything(newMarker(t));
	const recording = {command, args: [bridgeFile, '--log', log, '--', command, ...args]};
	const mcpServers = {recording, played: played(log)};
	await writeFile(join(folder, 'mcp.json'), JSON.stringify({mcpServers}));
	const listed = (name: string): string[] => ['--config', join(folder, 'mcp.json'), '--server', name];
	const methods = [['tools/list'], ['tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hello ☃']];
	// Each run of the Inspector is a separate connection in the log.
	const direct: Inspection[] = [];
	for (const method of methods) direct.push(await inspect(folder, listed('recording'), method));
	const http = startBridge(['replay', log, '--serve', '--listen', '127.0.0.1:0']);
	t.teardown(() => http.child.kill('SIGKILL'));
	const url = /http:\S+/.exec((await http.hasLines(1))[0] ?? '')?.[0] ?? '';
	for (const [at, method] of methods.entries()) {
		t.is(direct[at]?.code, 0);
		t.deepEqual(await inspect(folder, listed('played'), method), direct[at]);
		t.deepEqual(await inspect(folder, [url, '--transport', 'http'], method), direct[at]);
	}
});
