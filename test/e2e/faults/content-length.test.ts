import {Buffer} from 'node:buffer';
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {bridgeBin, handshake, type Message, server} from '../../helpers/bridge.js';
import {framed, unframed} from '../../helpers/frames.js';

const call = (id: unknown, params: Message): string =>
	JSON.stringify({jsonrpc: '2.0', id, method: 'echo', params});

/** Runs bridge to its end on this input, which comes after a handshake in frames if there is a server. */
async function talk(
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

test.serial('a client that sends Content-Length frames is answered in such frames [A1]', async t => {
	const input = [framed(call(1, {text: 'é\u2028'})), framed(call('two', {text: 'line\nline'}))];
	const answers = await talk(t, wrapped, input);
	t.deepEqual(answers, [
		{jsonrpc: '2.0', id: 1, result: {text: 'é\u2028'}},
		{jsonrpc: '2.0', id: 'two', result: {text: 'line\nline'}},
	]);
});

test.serial(
	'frames with other headers, other case and line ends inside reach the server as one line each [A1]',
	async t => {
		const body = '{\n\t"jsonrpc": "2.0",\r\n\t"id": 1,\n\t"method": "echo", "params": {"a": 1}\n}\n';
		const header = `content-length:${body.length}\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n`;
		const single = Array.from(Buffer.from(header + body), byte => Uint8Array.of(byte));
		t.deepEqual(await talk(t, wrapped, single), [{jsonrpc: '2.0', id: 1, result: {a: 1}}]);
	},
);

test.serial(
	'a frame that is no JSON is answered with -32700 in a frame, and the next one works [A2]',
	async t => {
		const answers = await talk(t, wrapped, [framed('no JSON'), framed(call(2, {ok: true}))]);
		t.like(answers[0], {id: null, error: {code: -32700}});
		t.like(answers[1], {id: 2, result: {ok: true}});
		t.is(answers.length, 2);
	},
);

test.serial(
	'a frame over 64 MiB is skipped and refused with -31007, and the next one works [A2]',
	async t => {
		const large = Buffer.alloc(64 * 2 ** 20 + 1, 'x');
		large.write('{"jsonrpc":"2.0","id":1,"method":"echo","params":"');
		const answers = await talk(t, wrapped, [framed(large), framed(call(2, {ok: true}))]);
		t.like(
			answers.find(({id}) => id === 1),
			{error: {code: -31007, data: {source: 'bridge'}}},
		);
		t.like(
			answers.find(({id}) => id === 2),
			{result: {ok: true}},
		);
		t.is(answers.length, 2);
	},
);

test.serial(
	'a client that sends Content-Length frames hears of the death of its child in such frames [E1]',
	async t => {
		const exit = '{"jsonrpc":"2.0","id":1,"method":"exit","params":{"code":3}}';
		const answers = await talk(t, wrapped, [framed(exit)]);
		t.like(answers, [{id: 1, error: {code: -31004, data: {exitCode: 3}}}]);
	},
);

test.serial('the filter passes Content-Length frames on as such frames [A1]', async t => {
	const answers = await talk(t, [], [framed(call(1, {a: 1})), framed('no JSON'), framed(call(2, {a: 2}))]);
	t.deepEqual(
		answers.map(({id}) => id),
		[1, 2],
	);
});
