import test from 'ava';
import {opening, server} from '../../helpers/bridge.js';
import {
	answersTo,
	isAllRpc,
	logged,
	sharePuppet,
	start,
	startHurried,
	startPuppet,
	until,
} from '../../helpers/program.js';

const deep = (levels: number): string =>
	`{"jsonrpc":"2.0","method":"x","params":{"x":${'['.repeat(levels - 2)}${']'.repeat(levels - 2)}}}`;

const base64 = (text: string, encoding: BufferEncoding = 'utf8'): string =>
	Buffer.from(`${text}\n`, encoding).toString('base64');

/** What a server may print that is no message. */
const garbage: ReadonlyArray<readonly [title: string, base64: string]> = [
	['words', base64('Listening on port 3000')],
	['a stack', base64('Error: no\n    at main.js:1:1')],
	['half a message', base64('{"jsonrpc":"2.0","method":"x"')],
	['colours', base64('\u001b[32mready\u001b[0m')],
	['an invalid byte', base64('{"jsonrpc":"2.0","method":"x","params":"\xff"}', 'latin1')],
	['an object of no meaning', base64('{"level":30,"msg":"hello"}')],
	['no version', base64('{"id":1,"result":{}}')],
	[
		'an answer with result and error',
		base64('{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}'),
	],
	['an answer with neither', base64('{"jsonrpc":"2.0","id":1}')],
	['a request with id null', base64('{"jsonrpc":"2.0","id":null,"method":"x"}')],
	['an id that is an object', base64('{"jsonrpc":"2.0","id":{},"result":{}}')],
	['two ids', base64('{"jsonrpc":"2.0","id":1,"id":"first","result":{}}')],
	['1001 levels', base64(deep(1001))],
	['100,000 levels', base64(deep(100_000))],
];

const shared = sharePuppet();

for (const [title, bytes] of garbage)
	test.serial(
		`the server prints ${title}: it is skipped with a warning, and the conversation goes on [A5]`,
		async t => {
			const {bridge} = shared();
			const {length} = bridge.lines;
			// Something with an id that nobody waits for may as well be called an answer without a question.
			const warnings = () =>
				['child.stdout.garbage', 'rpc.orphan_response'].flatMap(event => logged(bridge, event));
			const before = warnings().length;
			bridge.send({method: 'raw', params: {base64: bytes}});
			t.like(await bridge.request(`after ${title}`, 'echo', {ok: true}), {result: {ok: true}});
			await until(() => warnings().length > before);
			t.is(bridge.lines.length, length + 1);
			t.true(isAllRpc(bridge.lines));
			for (const {start: excerpt = ''} of warnings()) t.true(String(excerpt).length <= 200);
		},
	);

for (const [title, answer] of [
	['no version', '{"id":1,"result":{}}'],
	['result and error', '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}'],
	['neither result nor error', '{"jsonrpc":"2.0","id":1}'],
	['a repeated key', '{"jsonrpc":"2.0","id":1,"result":{},"result":{}}'],
	['1002 levels', `{"jsonrpc":"2.0","id":1,"result":${'['.repeat(1001)}0${']'.repeat(1001)}}`],
] as const)
	test.serial(
		`an answer with ${title} is dropped with a warning, and its call still gets an answer in time [A17]`,
		async t => {
			const {bridge} = await startHurried(t, 2);
			bridge.send({id: 1, method: 'raw', params: {base64: base64(answer)}});
			await bridge.says(/child\.stdout\.garbage/);
			// This one runs out of time after the other.
			t.like(await bridge.request(2, 'hold'), {error: {code: -31002}});
			t.is(await bridge.end(), 0);
			t.is(answersTo(bridge, 1).length, 1);
			t.true('error' in (answersTo(bridge, 1)[0] ?? {}));
			t.true(isAllRpc(bridge.lines));
		},
	);

test.serial('a banner before the first message is skipped with a warning that shows it [A5]', async t => {
	const banner = `Welcome to the server!\n${'='.repeat(5000)}\n`;
	const running = start(t, ['--', ...server('puppet', `--say=${banner}`)]);
	t.true('result' in (await running.request(1, 'initialize', opening)));
	t.is(await running.end(), 0);
	t.is(running.lines.length, 1);
	const [first, second] = logged(running, 'child.stdout.garbage');
	t.like(first, {level: 40, start: 'Welcome to the server!'});
	t.is(String(second?.start).length, 200);
});

test.serial('1000 levels from the server pass [A4]', async t => {
	const {bridge} = await startPuppet(t);
	bridge.send({method: 'raw', params: {base64: base64(deep(1000))}});
	await bridge.hasLines(2);
	t.is(bridge.lines[1], deep(1000));
	t.is(await bridge.end(), 0);
});

test.serial(
	'an answer given twice is passed on once, and the second is dropped with a warning [A12]',
	async t => {
		const {bridge} = await startPuppet(t);
		t.like(await bridge.request(1, 'twice'), {result: {time: 1}});
		t.like(await bridge.request(2, 'echo', {ok: true}), {result: {ok: true}});
		t.is(await bridge.end(), 0);
		t.is(answersTo(bridge, 1).length, 1);
		t.is(logged(bridge, 'rpc.orphan_response').length, 1);
	},
);

test.serial('an answer to what nobody asked is dropped with a warning [A12]', async t => {
	const {bridge} = await startPuppet(t);
	bridge.send({method: 'raw', params: {base64: base64('{"jsonrpc":"2.0","id":"unasked","result":{}}')}});
	t.like(await bridge.request(2, 'echo', {ok: true}), {result: {ok: true}});
	t.is(await bridge.end(), 0);
	t.is(bridge.lines.length, 2);
	t.is(logged(bridge, 'rpc.orphan_response').length, 1);
});

test.serial('A requests of the server and of the client under the same id do not meet', async t => {
	const {bridge} = await startPuppet(t);
	bridge.send({id: 1, method: 'hold'});
	const request = '{"jsonrpc":"2.0","id":1,"method":"roots/list"}';
	bridge.send({method: 'raw', params: {base64: base64(request)}});
	await bridge.message(({method}) => method === 'roots/list');
	bridge.sendText('{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}\n');
	await bridge.request(2, 'release');
	t.like(await bridge.answer(1), {result: {was: 1}});
	const {lines} = (await bridge.request(3, 'heard')).result as {lines: string[]};
	t.is(lines.filter(line => line === '{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}').length, 1);
	t.is(await bridge.end(), 0);
});

test.serial('A an error of the server with id null passes', async t => {
	const {bridge} = await startPuppet(t);
	const error = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"What?"}}';
	bridge.send({method: 'raw', params: {base64: base64(error)}});
	await bridge.hasLines(2);
	t.is(bridge.lines[1], error);
	t.is(await bridge.end(), 0);
});

test.serial(
	'a secret in what the server prints beside its messages is not in the log of bridge [K4]',
	async t => {
		const {bridge} = await startPuppet(t);
		bridge.send({
			method: 'raw',
			params: {base64: base64('started with api_key=canary-1 and token: canary-2')},
		});
		await bridge.request('next', 'echo');
		t.is(await bridge.end(), 0);
		t.is(logged(bridge, 'child.stdout.garbage').length, 1);
		t.notRegex(bridge.stderr, /canary/);
	},
);

test.serial(
	'a secret in what a client sends that is no message is not in the log of bridge [K4]',
	async t => {
		const {bridge} = await startPuppet(t);
		bridge.sendText(
			'{"jsonrpc":"2.0","id":1,"params":{"password":"canary-1","authorization":"Bearer canary-2"}\n',
		);
		await bridge.request('next', 'echo');
		t.is(await bridge.end(), 0);
		t.is(logged(bridge, 'client.message.refused').length, 1);
		t.notRegex(bridge.stderr, /canary/);
	},
);

test.serial('control characters in what the server prints cannot forge a line of the log [K5]', async t => {
	const {bridge} = await startPuppet(t);
	const forged = '{"level":60,"event":"forged"}';
	bridge.send({method: 'raw', params: {base64: base64(`x\r${forged}\u0085${forged}\u001b[2J`)}});
	await bridge.request('next', 'echo');
	t.is(await bridge.end(), 0);
	t.is(logged(bridge, 'child.stdout.garbage').length, 1);
	t.false(bridge.stderr.includes('\u001b'));
	t.false(bridge.stderr.split(/[\r\n\u0085]/).includes(forged));
});
