import test from 'ava';
import fc from 'fast-check';
import {program, shareGateway} from '../../helpers/gateway.js';
import {logged} from '../../helpers/program.js';

const shared = shareGateway({servers: {puppet: program('puppet'), demo: program('speaker', '2025-06-18')}});
const send = (path: string, body: string | Uint8Array, headers: {readonly [name: string]: string}) =>
	shared().fetch(path, {method: 'POST', headers: {'content-type': 'application/json', ...headers}, body});

const nearMessage = fc.record(
	{
		jsonrpc: fc.constantFrom('2.0', '1.0', 2),
		id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.object()),
		method: fc.oneof(
			fc.constantFrom('initialize', 'tools/list', 'server/discover', 'notifications/cancelled', 'x'),
			fc.anything(),
		),
		params: fc.oneof(fc.object({maxDepth: 2}), fc.string(), fc.constant({_meta: {progressToken: {}}})),
		result: fc.anything(),
	},
	{requiredKeys: []},
);
const body = fc.oneof(
	fc.string({unit: 'binary'}),
	fc.uint8Array(),
	fc.json(),
	nearMessage.map(message => JSON.stringify(message)),
	nearMessage.map(message => JSON.stringify(message).slice(0, -2)),
	fc.array(nearMessage, {maxLength: 3}).map(messages => JSON.stringify(messages)),
	fc.constantFrom(
		'',
		'{"jsonrpc":',
		'[]',
		'[[]]',
		'null',
		'0',
		'"',
		'\0',
		'{"a":1}{"b":2}',
		'\n\n',
		'[null]',
	),
);
const version = fc.constantFrom('2025-06-18', '2026-07-28', '1999-01-01', '');

test('replies to arbitrary bodies, with and without a session, and keeps running', async t => {
	const session = await shared().open('demo');
	const property = fc.asyncProperty(body, fc.boolean(), version, async (bytes, isNamed, protocol) => {
		const headers = {
			...(isNamed ? session.headers : {}),
			...(protocol === '' ? {} : {'mcp-protocol-version': protocol}),
		};
		const {status, text} = await send('/mcp/demo', bytes, headers);
		if (status >= 500 && status !== 503) throw new Error(`${status} ${text}`);
	});
	await t.notThrowsAsync(fc.assert(property, {numRuns: 300}));
	t.is((await shared().fetch('/healthz')).status, 200);
	t.deepEqual(logged(shared().running, 'bug'), []);
});

test('reports a body that is not JSON to a client without a session', async t => {
	const {status, text} = await send('/mcp/puppet', '{"jsonrpc":', {});
	t.is(status, 400);
	t.is(JSON.parse(text).error.code, -32700);
});
