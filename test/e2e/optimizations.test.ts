import process from 'node:process';
import test from 'ava';
import {runBridge, server} from '../helpers/bridge.js';
import {program, startGateway} from '../helpers/gateway.js';

const names = [
	'fast-path',
	'minor-collection',
	'read-buffer',
	'slot-map',
	'string-cache',
	'string-reply',
	'subscribers',
	'synchronous-write',
	'all',
];

/** The sizes of call arguments, short and long. A puppet echoes each request. */
const sizes = [1, 10_000, 200_000, 2, 3];
const input = sizes
	.map(
		(size, id) =>
			`{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"text":"${'x'.repeat(size)}"}}}\n`,
	)
	.join('');

const resultsWith = async (plain: string): Promise<string[]> => {
	const env = {...process.env, BRIDGE_PLAIN: plain};
	const {code, stdout} = await runBridge(['--', ...server('puppet')], input, {
		env,
		isReady: true,
		answers: sizes.length,
	});
	if (code !== 0) throw new Error(`exit code ${code}`);
	return stdout;
};

for (const name of names)
	test(`gives the same responses without the optimization ${name}`, async t => {
		const [plain, optimized] = await Promise.all([resultsWith(name), resultsWith('')]);
		t.is(plain.length, sizes.length);
		t.deepEqual(plain, optimized);
	});

test('serves a gateway without optimizations', async t => {
	const gateway = await startGateway(
		t,
		{servers: {puppet: program('puppet')}},
		{env: {...process.env, BRIDGE_PLAIN: 'all'}},
	);
	const session = await gateway.open('puppet');
	const {result} = await session.request(7, 'echo', {text: 'ä'});
	t.deepEqual(result, {text: 'ä'});
});
