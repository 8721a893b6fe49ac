import test from 'ava';
import {type Message, opening, server} from '../../helpers/bridge.js';
import {errorOf, heardBy, isAllRpc, logged, sharePuppet, start, startPuppet} from '../../helpers/program.js';

const call = (id: unknown, method: string, params: Message = {}): Message => ({
	jsonrpc: '2.0',
	id,
	method,
	params,
});

const shared = sharePuppet();

for (const [title, batch, message] of [
	['an empty batch', [], 'a batch must not be empty'],
	['a batch', [call(1, 'echo'), call(2, 'echo')], 'JSON-RPC batches are not part of protocol 2025-11-25'],
	['a batch of notifications', [{method: 'exit'}], 'JSON-RPC batches are not part of protocol 2025-11-25'],
] as const)
	test.serial(
		`rejects ${title} from a 2025-11-25 client with -32600 and id null, and does not forward it [A16]`,
		async t => {
			const {bridge} = shared();
			const before = await heardBy(shared());
			const {length} = bridge.lines;
			bridge.sendText(`${JSON.stringify(batch)}\n`);
			// The only new line is the first `heardBy` request.
			t.is((await heardBy(shared())).length, before.length + 1);
			t.is(bridge.lines.length, length + 2);
			t.deepEqual(JSON.parse(bridge.lines[length] ?? ''), {
				jsonrpc: '2.0',
				id: null,
				error: {code: -32600, message: `Invalid Request: ${message}`},
			});
			t.true(isAllRpc(bridge.lines));
		},
	);

test.serial('rejects a batch before the handshake, which still succeeds afterwards [A16]', async t => {
	const bridge = start(t, ['--', ...server('puppet')]);
	bridge.sendText(`${JSON.stringify([call(1, 'initialize', opening), call(2, 'echo')])}\n`);
	const [line = ''] = await bridge.hasLines(1);
	t.like(JSON.parse(line), [
		{id: 1, error: {code: -32600}},
		{id: 2, error: {code: -32600, message: 'Invalid Request: not initialized'}},
	]);
	t.like(await bridge.shakeHands(), {result: {serverInfo: {name: 'puppet'}}});
	t.like(await bridge.request(3, 'echo', {ok: true}), {result: {ok: true}});
	const {lines} = (await bridge.request(4, 'heard')).result as {lines: string[]};
	t.is(lines.length, 4);
	t.is(await bridge.end(), 0);
});

test.serial(
	'splits a batch of a 2025-03-26 client and returns one array in order of completion [A16]',
	async t => {
		const bridge = start(t, ['--', ...server('puppet')]);
		const params = {...opening, protocolVersion: '2025-03-26'};
		t.like(await bridge.request('first', 'initialize', params), {result: {protocolVersion: '2025-03-26'}});
		bridge.send({method: 'notifications/initialized'});
		const batch = [
			call(1, 'hold'),
			{jsonrpc: '2.0', method: 'notifications/x'},
			7,
			call(2, 'echo', {ok: true}),
			call(3, 'release'),
		];
		bridge.sendText(`${JSON.stringify(batch)}\n`);
		const [, line = ''] = await bridge.hasLines(2);
		const responses = JSON.parse(line) as Message[];
		t.is(responses.length, 4);
		t.is(responses[0]?.id, null);
		t.is(errorOf(responses[0] ?? {}).code, -32600);
		t.like(responses[1], {id: 2, result: {ok: true}});
		t.like(responses[2], {id: 1, result: {was: 1}});
		t.like(responses[3], {id: 3, result: {}});
		const {lines} = (await bridge.request(4, 'heard')).result as {lines: string[]};
		t.deepEqual(
			lines.slice(2, -1),
			batch.filter(message => message !== 7).map(message => JSON.stringify(message)),
		);
		t.is(await bridge.end(), 0);
		t.is(bridge.lines.length, 3);
	},
);

test.serial('rejects a batch of more than 100 messages as a whole, and accepts one of 100 [A16]', async t => {
	const bridge = start(t, ['--', ...server('puppet')]);
	await bridge.request('first', 'initialize', {...opening, protocolVersion: '2025-03-26'});
	bridge.send({method: 'notifications/initialized'});
	const many = (count: number): string =>
		`${JSON.stringify(Array.from({length: count}, (_, id) => call(id, 'echo', {id})))}\n`;
	bridge.sendText(many(101));
	const [, rejection = ''] = await bridge.hasLines(2);
	t.like(JSON.parse(rejection), {id: null, error: {code: -32600}});
	t.regex(rejection, /at most 100/);
	bridge.sendText(many(100));
	const [, , line = ''] = await bridge.hasLines(3);
	t.is((JSON.parse(line) as Message[]).length, 100);
	const {lines} = (await bridge.request('heard', 'heard')).result as {lines: string[]};
	t.is(lines.length, 2 + 100 + 1, 'the rejected batch was forwarded');
});

test.serial('forwards each message of a batch of the upstream and skips garbage in it [A5]', async t => {
	const {bridge} = await startPuppet(t);
	bridge.send({id: 1, method: 'hold'});
	const texts = [
		'{"jsonrpc":"2.0","method":"x", "params":{"n":1.0}}',
		'{"jsonrpc":"2.0","id":1,"result":{}}',
	];
	const base64 = Buffer.from(`[${texts[0]},"words",${texts[1]}]\n`).toString('base64');
	bridge.send({method: 'raw', params: {base64}});
	t.like(await bridge.request(2, 'echo', {ok: true}), {result: {ok: true}});
	t.deepEqual(bridge.lines.slice(1, 3), texts);
	t.is(await bridge.end(), 0);
	t.is(bridge.lines.length, 4);
	t.is(logged(bridge, 'child.stdout.garbage').length, 1);
});
