import {readFileSync} from 'node:fs';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {place, ServeClient} from '../e2e/serve/support.js';
import {bridgeBin, type Message, runBridge, startBridge} from '../helpers/bridge.js';
import {program, type RunningGateway, startGateway} from '../helpers/gateway.js';
import {newFolder} from '../helpers/program.js';
import {asking, linesOfLog} from './support.js';

/** Replays a log and expects equal results. */
async function isSame(t: ExecutionContext, count: number, ...args: string[]): Promise<void> {
	const {code, stdout, stderr} = await runBridge(['replay', ...args]);
	t.is(code, 0, `${stdout.join('\n')}\n${stderr}`);
	t.true(stdout.at(-1)?.startsWith(`✓ ${count} compared: ${count} same`), stdout.at(-1));
}

const echo = (message: string, name = 'echo'): Message => ({name, arguments: {message}});

/** A gateway with a log, which is complete once the gateway has stopped. */
async function loggedGateway(t: ExecutionContext): Promise<{gateway: RunningGateway; log: string}> {
	const log = join(await newFolder(t), 'gateway.ndjson');
	const servers = {one: program('asking'), two: program('asking', '--changed')};
	return {log, gateway: await startGateway(t, {servers}, {args: ['--log', log]})};
}

/** A request of a stateless client. */
const statelessRequest = (
	method: string,
	params: Message = {},
): readonly [Message, {readonly [name: string]: string}] => {
	const version = '2026-07-28';
	const prefix = 'io.modelcontextprotocol';
	const _meta = {
		[`${prefix}/protocolVersion`]: version,
		[`${prefix}/clientInfo`]: {name: 'test', version: '1'},
		[`${prefix}/clientCapabilities`]: {},
	};
	const name = typeof params.name === 'string' ? {'mcp-name': params.name} : {};
	return [
		{id: 1, method, params: {...params, _meta}},
		{'mcp-protocol-version': version, 'mcp-method': method, ...name},
	];
};

test('replays all sessions with one server from the log of a gateway', async t => {
	const {gateway, log} = await loggedGateway(t);
	for (const service of ['one', 'one', 'two']) {
		const session = await gateway.open(service);
		await session.request(1, 'tools/call', echo(service));
		await session.request(2, 'tools/call', {name: 'now', arguments: {}});
	}
	await gateway.stop();
	const several = await runBridge(['replay', log, '--', ...asking()]);
	t.is(several.code, 2);
	t.regex(
		several.stderr,
		/client → one, messages: 7\n.*client → one, messages: 7\n.*client → two, messages: 7\n/,
	);
	const ids = linesOfLog(log).flatMap(({ConnID, event, to}) =>
		event === 'open' && to === 'two' ? [ConnID] : [],
	);
	await isSame(t, 3, log, '--conn', String(ids[0]), '--', ...asking('--changed'));
	// Without the session of the other server, all sessions are replayed in sequence. The log may be a folder.
	const folder = await newFolder(t);
	const rest = readFileSync(log, 'utf8')
		.split('\n')
		.filter(line => !line.includes(`"ConnID":"${ids[0]}"`));
	await writeFile(join(folder, 'one.ndjson'), rest.join('\n'));
	await isSame(t, 6, folder, '--', ...asking());
});

test('replays a stateless client against a gateway, from either side', async t => {
	const {gateway, log} = await loggedGateway(t);
	for (const [message, headers] of [
		statelessRequest('server/discover'),
		statelessRequest('tools/list'),
		statelessRequest('tools/call', echo('hi')),
	])
		t.is((await gateway.post('one', message, headers)).status, 200);
	await gateway.stop();
	const live = await startGateway(t, {servers: {one: program('asking')}});
	await isSame(t, 3, log, '--url', new URL('/mcp/one', live.base).href);
	const upstream = await runBridge(['replay', log, '--side', 'upstream', '--', ...asking()]);
	t.is(upstream.code, 0, upstream.stdout.join('\n') + upstream.stderr);
	const running = startBridge(['replay', log, '--serve']);
	t.teardown(() => running.child.kill('SIGKILL'));
	await running.shakeHands();
	t.like(await running.request(1, 'tools/call', echo('hi')), {result: {content: [{text: 'Echo: hi'}]}});
});

test('replays the log of a hub against a hub or one of its servers, and as a hub', async t => {
	const folder = await newFolder(t);
	const [file, log] = [join(folder, 'bridge.json'), join(folder, 'hub.ndjson')];
	await writeFile(
		file,
		JSON.stringify({expose: 'tools', servers: {one: program('asking'), two: program('asking')}}),
	);
	const hub = startBridge(['hub', '--config', file, '--log', log]);
	t.teardown(() => hub.child.kill('SIGKILL'));
	await hub.shakeHands();
	const response = await hub.request(1, 'tools/call', echo('x', 'one__echo'));
	await hub.end();
	await isSame(t, 2, log, '--', process.execPath, bridgeBin, 'hub', '--config', file);
	const upstreamId = linesOfLog(log).find(({event, to}) => event === 'open' && to === 'one')?.ConnID;
	await isSame(t, 3, log, '--conn', String(upstreamId), '--', ...asking());
	const running = startBridge(['replay', log, '--serve']);
	t.teardown(() => running.child.kill('SIGKILL'));
	await running.shakeHands();
	t.deepEqual(await running.request(1, 'tools/call', echo('x', 'one__echo')), response);
});

test('replays the log of bridge serve against bridge serve with other session ids, and as bridge serve', async t => {
	const there = await place(t, 'app-server');
	const log = join(there.base, 'serve.ndjson');
	const options = {cwd: there.repo, env: there.env};
	const running = startBridge(['serve', '--trust', '--log', log], options);
	t.teardown(() => running.child.kill('SIGKILL'));
	await running.shakeHands();
	const client = new ServeClient(running);
	const first = await client.codex({prompt: 'hello', identity: 'arch'});
	await client.reply(first.codexId, 'again');
	await client.close(first.codexId);
	await running.end();
	const env = Object.keys(there.env).filter(name => name.startsWith('ATM_'));
	const args = env.flatMap(name => ['--env', name]);
	const again = await runBridge(
		['replay', log, ...args, '--', process.execPath, bridgeBin, 'serve', '--trust'],
		'',
		options,
	);
	t.is(again.code, 0, again.stdout.join('\n') + again.stderr);
	const played = startBridge(['replay', log, '--serve']);
	t.teardown(() => played.child.kill('SIGKILL'));
	await played.shakeHands();
	const other = new ServeClient(played);
	t.deepEqual(await other.codex({prompt: 'hello', identity: 'arch'}), first);
	t.is((await other.reply(first.codexId, 'again')).isError, false);
});
