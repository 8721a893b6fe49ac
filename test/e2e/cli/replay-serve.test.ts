import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {type Message, opening, type Running, startBridge} from '../../helpers/bridge.js';
import {messageIn, RunningGateway} from '../../helpers/gateway.js';
import {newFolder} from '../../helpers/program.js';
import {linesOfLog, logLine, recordAsking, talkTo} from '../../replay/support.js';

/** Starts the recorded server and stops it after the test. */
function serve(t: ExecutionContext, log: string, ...args: string[]): Running {
	const running = startBridge(['replay', log, '--serve', ...args]);
	t.teardown(() => running.child.kill('SIGKILL'));
	return running;
}

/** Removes the ids of server requests from messages of a server. */
const withoutRequestIds = (messages: readonly (Message | undefined)[]): unknown[] =>
	messages.map(message => (message && 'method' in message ? {...message, id: undefined} : message));

const echo = (message: string): Message => ({name: 'echo', arguments: {message}});

test('a client that repeats the recording receives the same messages in the same order', async t => {
	const log = await recordAsking(t);
	const recorded = linesOfLog(log).flatMap(({message, from}) =>
		message && from !== 'client' ? [message] : [],
	);
	const running = serve(t, log);
	await talkTo(running);
	t.deepEqual(
		withoutRequestIds(running.lines.map(line => JSON.parse(line) as Message)),
		withoutRequestIds(recorded),
	);
	t.is(await running.end(), 0);
});

test('uses ids and tokens of the live client and responds to repeated requests', async t => {
	const running = serve(t, await recordAsking(t));
	await running.shakeHands();
	const counting = {name: 'count', arguments: {to: 3}, _meta: {progressToken: 'live'}};
	for (const id of ['a', 9.5]) {
		t.like(await running.request(id, 'tools/call', counting), {id, result: {content: [{text: 'counted'}]}});
		t.like(await running.request(`${id}!`, 'tools/call', echo('hello')), {
			result: {content: [{text: 'Echo: hello'}]},
		});
	}
	const progress = running.lines
		.map(line => JSON.parse(line))
		.filter(({method}) => method === 'notifications/progress');
	t.deepEqual(
		progress.map(({params}) => params),
		[1, 2, 3, 1, 2, 3].map(done => ({progressToken: 'live', progress: done})),
	);
	t.like(await running.request('ping', 'ping'), {result: {}});
});

test('rejects a request that was not recorded and names the nearest one', async t => {
	const running = serve(t, await recordAsking(t));
	await running.shakeHands();
	const {error} = await running.request(1, 'tools/call', echo('hallo'));
	t.like(error, {code: -32_602, data: {source: 'bridge', kind: 'not_recorded', nearest: 'tools/call echo'}});
	t.regex(
		String((error as Message).message),
		/\/params\/arguments\/message is "hello" there and "hallo" here/,
	);
	t.like(await running.request(2, 'tools/lst'), {error: {code: -32_601}});
	// A response to an unknown server request is ignored.
	running.send({id: 'replay-99', result: {}});
	t.true('result' in (await running.request(3, 'tools/call', echo('hello'))));
});

test('waits for the response to a server request before it sends later messages', async t => {
	const running = serve(t, await recordAsking(t));
	await running.shakeHands();
	running.send({id: 1, method: 'tools/call', params: {name: 'ask', arguments: {}}});
	const {id} = await running.message(({method}) => method === 'elicitation/create');
	t.true('result' in (await running.request(2, 'tools/list')));
	t.false(running.lines.some(line => line.includes('answered')));
	running.send({id, result: {action: 'decline'}});
	t.true(JSON.stringify(await running.answer(1)).includes('answered'));
});

test('--timing recorded keeps the recorded delays, and a request may have no response', async t => {
	const log = join(await newFolder(t), 'log.ndjson');
	const at = (second: string, from: string, to: string, message: object): string =>
		logLine(from, to, {jsonrpc: '2.0', ...message}, {time: `2026-11-16T01:02:0${second}Z`});
	const lines = [
		at('0.0', 'client', 'it', {id: 1, method: 'initialize', params: opening}),
		at('0.0', 'it', 'client', {
			id: 1,
			result: {protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {name: 'it', version: '1'}},
		}),
		at('0.1', 'client', 'it', {id: 2, method: 'tools/call', params: echo('slow')}),
		at('0.4', 'it', 'client', {id: 2, result: {}}),
		at('0.5', 'client', 'it', {id: 3, method: 'tools/call', params: echo('never')}),
	];
	writeFileSync(log, lines.join('\n'));
	const running = serve(t, log, '--timing', 'recorded');
	await running.shakeHands();
	const since = performance.now();
	await running.request(2, 'tools/call', echo('slow'));
	// The delay may be longer, but not shorter.
	t.true(performance.now() - since >= 290);
	const {error} = await running.request(3, 'tools/call', echo('never'));
	t.regex(String((error as Message).message), /no response to it/);
});

test('--listen serves each HTTP session from the start of the recording, also to clients of other versions', async t => {
	const log = await recordAsking(t);
	const running = serve(t, log, '--listen', '127.0.0.1:0');
	const [line = ''] = await running.hasLines(1);
	const base = /http:\/\/\S+:\d+/.exec(line)?.[0] ?? '';
	const http = new RunningGateway(running, '', new URL(base));
	for (let time = 0; time < 2; time++) {
		const session = await http.open('');
		t.like(session.welcome, {result: {serverInfo: {name: 'asking'}}});
		t.like(await session.request(1, 'tools/call', echo('hello')), {
			id: 1,
			result: {content: [{text: 'Echo: hello'}]},
		});
	}
	const params = {...opening, protocolVersion: '2025-03-26'};
	t.like(messageIn(await http.post('', {id: 1, method: 'initialize', params})), {
		result: {protocolVersion: '2025-03-26'},
	});
	t.is(await http.stop(), 0);
});
