import test, {type ExecutionContext} from 'ava';
import type {Running} from '../../helpers/bridge.js';
import {logged, sharePuppet, startPuppet} from '../../helpers/program.js';

const tokens = [
	'0',
	'-0',
	'-5',
	'1.0',
	'1.5',
	'1e3',
	'1E+2',
	'9007199254740993',
	'-9007199254740993',
	'12345678901234567890',
	'123456789012345678901234567890',
	'""',
	'"\\u0041"',
	'"a\\/b"',
	'"\\ud800"',
	'"1"',
	'"null"',
	'"é"',
	'"__proto__"',
	'"constructor"',
	'"bridge-1"',
];

/** The lines whose id has this exact text. */
const linesWithId = (bridge: Running, token: string): string[] =>
	bridge.lines.filter(line => line.startsWith(`{"jsonrpc":"2.0","id":${token},`));

/** Sends calls with these ids at the same time, and checks that each gets its own response. */
async function callTogether(t: ExecutionContext, ids: readonly string[]): Promise<Running> {
	const {bridge} = await startPuppet(t, [], ['--timeout', '5']);
	for (const [index, id] of ids.entries())
		bridge.sendText(`{"jsonrpc":"2.0","id":${id},"method":"slow","params":{"ms":300,"which":${index}}}\n`);
	// The server exits after its last response.
	t.is(await bridge.end(), 0);
	for (const [index, id] of ids.entries()) {
		const lines = linesWithId(bridge, id);
		t.is(lines.length, 1, `${id}: ${bridge.lines.slice(1).join('\n')}`);
		t.regex(lines[0] ?? '', new RegExp(`"which":${index}\\}`), id);
	}
	return bridge;
}

const shared = sharePuppet();

for (const token of tokens)
	test.serial(
		`returns the id ${token} as it was written although the server re-serializes it [A8]`,
		async t => {
			const {bridge} = shared();
			const {length} = bridge.lines;
			bridge.sendText(`{"jsonrpc":"2.0","id":${token},"method":"echo","params":{"ok":true}}\n`);
			await bridge.hasLines(length + 1);
			t.is(bridge.lines[length], `{"jsonrpc":"2.0","id":${token},"result":{"ok":true}}`);
		},
	);

for (const ids of [
	['1', '"1"'],
	['9007199254740992', '9007199254740993'],
	['9007199254740993', '9007199254740992', '9007199254740994'],
	['1', '1.0', '1e0', '10e-1'],
	['0', '-0', '"0"'],
	['1000', '1e3', '"1000"', '"1e3"'],
	['"bridge-1"', '9007199254740993', '9007199254740992', '"bridge-2"'],
])
	test.serial(`returns to each of the pending calls ${ids.join(' and ')} its own response [A8]`, async t => {
		await callTogether(t, ids);
	});

test.serial('renames the id in a cancellation of a renamed request [A8]', async t => {
	const {bridge} = await startPuppet(t);
	const ids = ['9007199254740992', '9007199254740993'];
	for (const id of ids) bridge.sendText(`{"jsonrpc":"2.0","id":${id},"method":"hold"}\n`);
	bridge.sendText(
		'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740993,"reason":"obsolete"}}\n',
	);
	const {lines} = (await bridge.request('heard', 'heard')).result as {lines: string[]};
	const [first, second] = lines.filter(line => line.includes('"hold"')).map(line => JSON.parse(line).id);
	const cancelled = JSON.parse(lines.find(line => line.includes('cancelled')) ?? '{}');
	t.not(first, second);
	t.deepEqual(cancelled.params, {requestId: second, reason: 'obsolete'});
	t.is(await bridge.end(), 0);
});

test.serial('does not take a response to "1" for one to 1 [A12]', async t => {
	const {bridge} = await startPuppet(t);
	const response = (id: string, time: number): string =>
		`{"jsonrpc":"2.0","id":${id},"result":{"time":${time}}}\n`;
	const base64 = Buffer.from(response('"1"', 1) + response('1', 2)).toString('base64');
	t.like(await bridge.request(1, 'raw', {base64}), {result: {time: 2}});
	t.is(await bridge.end(), 0);
	t.is(bridge.lines.length, 2);
	t.is(logged(bridge, 'rpc.orphan_response').length, 1);
});
