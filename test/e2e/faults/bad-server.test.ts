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

/** Lines on the stdout of a server that are not JSON-RPC messages. */
const garbage: ReadonlyArray<readonly [title: string, base64: string]> = [
	['words', base64('Listening on port 3000')],
	['a stack trace', base64('Error: no\n    at main.js:1:1')],
	['half a message', base64('{"jsonrpc":"2.0","method":"x"')],
	['color codes', base64('\u001b[32mready\u001b[0m')],
	['an invalid byte', base64('{"jsonrpc":"2.0","method":"x","params":"\xff"}', 'latin1')],
	['an unrelated object', base64('{"level":30,"msg":"hello"}')],
	['no version', base64('{"id":1,"result":{}}')],
	[
		'a response with both result and error',
		base64('{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}'),
	],
	['a response with neither result nor error', base64('{"jsonrpc":"2.0","id":1}')],
	['a request with id null', base64('{"jsonrpc":"2.0","id":null,"method":"x"}')],
	['an id that is an object', base64('{"jsonrpc":"2.0","id":{},"result":{}}')],
	['duplicate ids', base64('{"jsonrpc":"2.0","id":1,"id":"first","result":{}}')],
	['1001 levels of nesting', base64(deep(1001))],
	['100,000 levels of nesting', base64(deep(100_000))],
];

const shared = sharePuppet();

for (const [title, bytes] of garbage)
	test.serial(`skips ${title} on stdout of the child with a warning [A5]`, async t => {
		const {bridge} = shared();
		const {length} = bridge.lines;
		// An object with an unknown id may be logged as an orphan response instead.
		const warnings = () =>
			['child.stdout.garbage', 'rpc.orphan_response'].flatMap(event => logged(bridge, event));
		const before = warnings().length;
		bridge.send({method: 'raw', params: {base64: bytes}});
		t.like(await bridge.request(`after ${title}`, 'echo', {ok: true}), {result: {ok: true}});
		await until(() => warnings().length > before);
		t.is(bridge.lines.length, length + 1);
		t.true(isAllRpc(bridge.lines));
		for (const {start: excerpt = ''} of warnings()) t.true(String(excerpt).length <= 200);
	});

for (const [title, response] of [
	['no version', '{"id":1,"result":{}}'],
	['result and error', '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}'],
	['neither result nor error', '{"jsonrpc":"2.0","id":1}'],
	['a repeated key', '{"jsonrpc":"2.0","id":1,"result":{},"result":{}}'],
	['1002 levels of nesting', `{"jsonrpc":"2.0","id":1,"result":${'['.repeat(1001)}0${']'.repeat(1001)}}`],
] as const)
	test.serial(`drops a response with ${title} with a warning, and the call times out [A17]`, async t => {
		const {bridge} = await startHurried(t, 2);
		bridge.send({id: 1, method: 'raw', params: {base64: base64(response)}});
		await bridge.says(/child\.stdout\.garbage/);
		// This request times out after the first one.
		t.like(await bridge.request(2, 'hold'), {error: {code: -31002}});
		t.is(await bridge.end(), 0);
		t.is(answersTo(bridge, 1).length, 1);
		t.true('error' in (answersTo(bridge, 1)[0] ?? {}));
		t.true(isAllRpc(bridge.lines));
	});

test.serial('logs an excerpt of a banner before the first message [A5]', async t => {
	const banner = `Welcome to the server!\n${'='.repeat(5000)}\n`;
	const running = start(t, ['--', ...server('puppet', `--say=${banner}`)]);
	t.true('result' in (await running.request(1, 'initialize', opening)));
	t.is(await running.end(), 0);
	t.is(running.lines.length, 1);
	const [first, second] = logged(running, 'child.stdout.garbage');
	t.like(first, {level: 40, start: 'Welcome to the server!'});
	t.is(String(second?.start).length, 200);
});

test.serial('forwards a message of the upstream with 1000 levels of nesting [A4]', async t => {
	const {bridge} = await startPuppet(t);
	bridge.send({method: 'raw', params: {base64: base64(deep(1000))}});
	await bridge.hasLines(2);
	t.is(bridge.lines[1], deep(1000));
	t.is(await bridge.end(), 0);
});

test.serial('forwards only the first of two responses to a request, with a warning [A12]', async t => {
	const {bridge} = await startPuppet(t);
	t.like(await bridge.request(1, 'twice'), {result: {time: 1}});
	t.like(await bridge.request(2, 'echo', {ok: true}), {result: {ok: true}});
	t.is(await bridge.end(), 0);
	t.is(answersTo(bridge, 1).length, 1);
	t.is(logged(bridge, 'rpc.orphan_response').length, 1);
});

test.serial('drops a response to an unknown request with a warning [A12]', async t => {
	const {bridge} = await startPuppet(t);
	bridge.send({method: 'raw', params: {base64: base64('{"jsonrpc":"2.0","id":"unknown","result":{}}')}});
	t.like(await bridge.request(2, 'echo', {ok: true}), {result: {ok: true}});
	t.is(await bridge.end(), 0);
	t.is(bridge.lines.length, 2);
	t.is(logged(bridge, 'rpc.orphan_response').length, 1);
});

test.serial('keeps requests of both sides apart when they have the same id', async t => {
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

test.serial('forwards an error of the upstream that has id null', async t => {
	const {bridge} = await startPuppet(t);
	const error = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"What?"}}';
	bridge.send({method: 'raw', params: {base64: base64(error)}});
	await bridge.hasLines(2);
	t.is(bridge.lines[1], error);
	t.is(await bridge.end(), 0);
});

test.serial('redacts secrets in garbage on stdout of the child from the log [K4]', async t => {
	const {bridge} = await startPuppet(t);
	bridge.send({
		method: 'raw',
		params: {base64: base64('started with api_key=canary-1 and token: canary-2')},
	});
	await bridge.request('next', 'echo');
	t.is(await bridge.end(), 0);
	t.is(logged(bridge, 'child.stdout.garbage').length, 1);
	t.notRegex(bridge.stderr, /canary/);
});

test.serial('redacts secrets in invalid lines of the client from the log [K4]', async t => {
	const {bridge} = await startPuppet(t);
	bridge.sendText(
		'{"jsonrpc":"2.0","id":1,"params":{"password":"canary-1","authorization":"Bearer canary-2"}\n',
	);
	await bridge.request('next', 'echo');
	t.is(await bridge.end(), 0);
	t.is(logged(bridge, 'client.message.refused').length, 1);
	t.notRegex(bridge.stderr, /canary/);
});

test.serial('escapes control characters of the child, so that it cannot forge log entries [K5]', async t => {
	const {bridge} = await startPuppet(t);
	const forged = '{"level":60,"event":"forged"}';
	bridge.send({method: 'raw', params: {base64: base64(`x\r${forged}\u0085${forged}\u001b[2J`)}});
	await bridge.request('next', 'echo');
	t.is(await bridge.end(), 0);
	t.is(logged(bridge, 'child.stdout.garbage').length, 1);
	t.false(bridge.stderr.includes('\u001b'));
	t.false(bridge.stderr.split(/[\r\n\u0085]/).includes(forged));
});
