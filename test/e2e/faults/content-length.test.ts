import {Buffer} from 'node:buffer';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {bridgeBin, handshake, type Message, server} from '../../helpers/bridge.js';
import {framed, unframed} from '../../helpers/frames.js';

const call = (id: unknown, params: Message): string =>
	JSON.stringify({jsonrpc: '2.0', id, method: 'echo', params});

/** Runs bridge on this input, after a framed handshake if `args` name a server. Returns the messages. */
async function runFramed(
	t: ExecutionContext,
	args: readonly string[],
	input: readonly Uint8Array[],
): Promise<Message[]> {
	const bridge = spawn(process.execPath, [bridgeBin, ...args], {stdio: ['pipe', 'pipe', 'ignore']});
	t.teardown(() => bridge.kill('SIGKILL'));
	const chunks: Buffer[] = [];
	if (args.includes('--')) {
		const [initialize, initialized] = handshake;
		bridge.stdin.write(framed(initialize));
		await once(bridge.stdout, 'readable');
		chunks.push(bridge.stdout.read());
		bridge.stdin.write(framed(initialized));
	}
	for (const part of input) bridge.stdin.write(part);
	bridge.stdin.end();
	for await (const chunk of bridge.stdout) chunks.push(chunk);
	const messages = unframed(Buffer.concat(chunks));
	return messages.filter(({id}) => id !== 'first');
}

const wrapped = ['--', ...server('puppet')];

test.serial('replies in Content-Length frames to a client that sends them [A1]', async t => {
	const input = [framed(call(1, {text: 'é\u2028'})), framed(call('two', {text: 'line\nline'}))];
	const responses = await runFramed(t, wrapped, input);
	t.deepEqual(responses, [
		{jsonrpc: '2.0', id: 1, result: {text: 'é\u2028'}},
		{jsonrpc: '2.0', id: 'two', result: {text: 'line\nline'}},
	]);
});

test.serial('accepts frames with extra headers, another case and line ends in the body [A1]', async t => {
	const body = '{\n\t"jsonrpc": "2.0",\r\n\t"id": 1,\n\t"method": "echo", "params": {"a": 1}\n}\n';
	const header = `content-length:${body.length}\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n`;
	const single = Array.from(Buffer.from(header + body), byte => Uint8Array.of(byte));
	t.deepEqual(await runFramed(t, wrapped, single), [{jsonrpc: '2.0', id: 1, result: {a: 1}}]);
});

test.serial(
	'rejects a frame that is not JSON with -32700 in a frame, and accepts the next one [A2]',
	async t => {
		const responses = await runFramed(t, wrapped, [framed('not JSON'), framed(call(2, {ok: true}))]);
		t.like(responses[0], {id: null, error: {code: -32700}});
		t.like(responses[1], {id: 2, result: {ok: true}});
		t.is(responses.length, 2);
	},
);

test.serial('rejects a frame over 64 MiB with -31007 and accepts the next one [A2]', async t => {
	const large = Buffer.alloc(64 * 2 ** 20 + 1, 'x');
	large.write('{"jsonrpc":"2.0","id":1,"method":"echo","params":"');
	const responses = await runFramed(t, wrapped, [framed(large), framed(call(2, {ok: true}))]);
	t.like(
		responses.find(({id}) => id === 1),
		{error: {code: -31007, data: {source: 'bridge'}}},
	);
	t.like(
		responses.find(({id}) => id === 2),
		{result: {ok: true}},
	);
	t.is(responses.length, 2);
});

test.serial('reports the exit of the child in a frame to a client that sends frames [E1]', async t => {
	const exit = '{"jsonrpc":"2.0","id":1,"method":"exit","params":{"code":3}}';
	const responses = await runFramed(t, wrapped, [framed(exit)]);
	t.like(responses, [{id: 1, error: {code: -31004, data: {exitCode: 3}}}]);
});

test.serial('the filter forwards Content-Length frames as frames [A1]', async t => {
	const responses = await runFramed(
		t,
		[],
		[framed(call(1, {a: 1})), framed('not JSON'), framed(call(2, {a: 2}))],
	);
	t.deepEqual(
		responses.map(({id}) => id),
		[1, 2],
	);
});
