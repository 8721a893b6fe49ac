import test from 'ava';
import {handshake, opening, server} from '../../helpers/bridge.js';
import {messageIn, program, startGateway} from '../../helpers/gateway.js';
import {newMarker, start} from '../../helpers/program.js';
import {startHub} from '../hub/support.js';

/** Starts a command after 61 s, which is longer than the default handshake timeout of 60 s. */
const delayed = (...puppet: string[]) => ({
	command: 'sh',
	args: ['-c', 'sleep 61; exec "$@"', 'sh', ...puppet],
});

test('waits for a handshake longer than 60 s if --timeout allows it [A-G2]', async t => {
	const {command, args} = delayed(...server('puppet', newMarker(t)));
	const running = start(t, ['--timeout', '150', '--', command, ...args]);
	running.sendText(`${handshake[0]}\n`);
	t.like(await running.answer('first'), {result: {serverInfo: {name: 'puppet'}}});
	t.is(await running.end(), 0);
});

test('waits for a handshake longer than 60 s if the timeout of the service allows it [A-G2]', async t => {
	const config = {...delayed(...server('puppet', newMarker(t))), timeout: 150};
	const gateway = await startGateway(t, {servers: {late: config, shared: {...config, shared: true}}});
	const initialize = {id: 1, method: 'initialize', params: opening};
	const signal = AbortSignal.timeout(150_000);
	const post = (service: string) =>
		gateway.fetch(`/mcp/${service}`, {
			method: 'POST',
			signal,
			body: JSON.stringify({jsonrpc: '2.0', ...initialize}),
			headers: {'content-type': 'application/json', accept: 'application/json, text/event-stream'},
		});
	for (const response of await Promise.all([post('late'), post('shared')]))
		t.like(messageIn(response), {result: {serverInfo: {name: 'puppet'}}});
});

test('connects to an upstream of the hub whose handshake takes longer than 60 s [A-G2]', async t => {
	const config = {...delayed(...server('shop', '--name=late')), timeout: 150};
	const hub = await startHub(t, {expose: 'tools', servers: {late: config}});
	await hub.running.says(/"server":"late".*"status":"SUCCESS"|"status":"SUCCESS".*"server":"late"/);
	t.true((await hub.toolNames()).includes('late__search'));
});

test('names --timeout or the key of the service in timeout errors [A-G2] [A-G10]', async t => {
	const wrapped = start(t, ['--timeout', '1', '--', ...server('late-reader', newMarker(t))]);
	const error = (await wrapped.request(1, 'initialize', opening)).error as {message: string};
	t.regex(
		error.message,
		/^late-reader did not respond to initialize within 1 s\. .*, or raise --timeout SECONDS/,
	);
	const servers = {puppet: {...program('puppet', newMarker(t)), timeout: 5}};
	for (const [args, setting] of [
		[[], 'servers.puppet.timeout'],
		[['--timeout', '4'], '--timeout SECONDS'],
	] as const) {
		const gateway = await startGateway(t, {servers}, {args});
		const session = await gateway.open('puppet');
		const {message} = (await session.request(1, 'hold')).error as {message: string};
		t.regex(message, /^puppet did not respond to hold within \d s\. The request was cancelled\. /);
		t.true(message.endsWith(`or raise ${setting} (0 for no limit).`), message);
	}
});
