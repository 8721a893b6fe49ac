import test from 'ava';
import fc from 'fast-check';
import {Envelope} from '../../lib/core/envelope.js';
import {retainedSizeError} from '../../lib/protocol/retained-size.js';

const KIB = 1024;
const PREFIX = 'io.modelcontextprotocol/';
const errorOf = (message: object) => retainedSizeError(Envelope.of({jsonrpc: '2.0', ...message}));

test('limits only messages whose content a session retains [SEC-D5]', t => {
	const text = fc.integer({min: 0, max: 130 * KIB}).map(length => 'x'.repeat(length));
	const member = fc.constantFrom('protocolVersion', 'clientCapabilities', 'clientInfo', 'other');
	fc.assert(
		fc.property(text, member, (long, name) => {
			const params = {name: 'echo', arguments: {long}};
			t.is(errorOf({id: 1, method: 'tools/call', params}), undefined);
			const meta = {[`${PREFIX}${name}`]: '', long};
			const isTooLarge = JSON.stringify(meta).length > 64 * KIB;
			const isStateless = name === 'protocolVersion' || name === 'clientCapabilities';
			const error = errorOf({id: 1, method: 'tools/call', params: {...params, _meta: meta}});
			t.is(error !== undefined, isTooLarge && isStateless);
		}),
		{numRuns: 50},
	);
});

for (const [method, limit] of [
	['initialize', 64 * KIB],
	['subscriptions/listen', 64 * KIB],
	['notifications/initialized', 8 * KIB],
	['logging/setLevel', 8 * KIB],
	['resources/subscribe', 8 * KIB],
] as const)
	test(`limits ${method} to ${limit / KIB} KiB [SEC-D5]`, t => {
		const sized = (bytes: number): object => {
			const empty = JSON.stringify({jsonrpc: '2.0', id: 1, method, params: {x: ''}}).length;
			return {id: 1, method, params: {x: 'x'.repeat(bytes - empty)}};
		};
		t.is(errorOf(sized(limit)), undefined);
		const {code, data, message} = errorOf(sized(limit + 1))?.toRpc() ?? {};
		t.is(code, -31007);
		t.is(data?.limit, limit);
		t.regex(message ?? '', new RegExp(`${method} has ${limit + 1} bytes`));
		// A session retains the content of notifications, too.
		t.is(errorOf({method, params: {x: 'x'.repeat(limit)}})?.code, 'ERR_MESSAGE_TOO_LARGE');
	});
