import test from 'ava';
import fc from 'fast-check';
import {canonicalId} from '../../lib/wire/id.js';
import {type Flaw, scanMessage} from '../../lib/wire/scan.js';
import {jsonText, numberText, space, spelled, stringText} from './arbitraries.js';

/** Valid and invalid members in any order and spelling. */
const members = fc
	.record(
		{
			jsonrpc: fc.constantFrom('"2.0"', '"2.0"', '"2.0"', '"1.0"', '2'),
			id: fc.oneof(numberText, stringText, fc.constantFrom('null', 'true', '{}')),
			method: fc.oneof(stringText, fc.constantFrom('"a"', '5')),
			params: jsonText(space).filter(text => !text.includes('name')),
			result: jsonText(space),
			error: jsonText(space),
			other: jsonText(space),
		},
		{requiredKeys: []},
	)
	.chain(record => fc.shuffledSubarray(Object.entries(record), {minLength: Object.keys(record).length}))
	.chain(entries =>
		fc.tuple(fc.constant(entries), fc.tuple(...entries.map(([name]) => spelled(name))), space),
	);

/** The expected flaw of a message, by its parsed value. */
function expectedFlaw({jsonrpc, ...rest}: {readonly [key: string]: unknown}): Flaw | undefined {
	const [hasMethod, hasResult, hasError] = [
		typeof rest.method === 'string',
		'result' in rest,
		'error' in rest,
	];
	const isId = typeof rest.id === 'string' || typeof rest.id === 'number';
	const mayLackId = hasError && !hasMethod && (rest.id ?? null) === null;
	if ('id' in rest && !isId && !mayLackId) return 'an id of the wrong type';
	if (jsonrpc !== '2.0') return 'not JSON-RPC 2.0';
	if (hasMethod && !hasResult && !hasError) return;
	return !('method' in rest) && hasResult !== hasError && (isId || mayLackId)
		? undefined
		: 'neither request nor response';
}

test('reads a head that matches the parsed value of any message', t => {
	fc.assert(
		fc.property(members, ([entries, names, gap]) => {
			const parts = entries.map(([, value], at) => `${gap}${names[at]}${gap}:${gap}${value}${gap}`);
			const bytes = Buffer.from(`${gap}{${parts.join(',')}}${gap}`);
			const value = JSON.parse(bytes.toString());
			const head = scanMessage(bytes);
			const rawId = entries.find(([name]) => name === 'id')?.[1];
			const id = typeof value.id === 'string' || typeof value.id === 'number' ? rawId : undefined;
			t.is(head.flaw, expectedFlaw(value));
			t.is(head.id, id);
			t.is(head.key, id === undefined ? undefined : canonicalId(id));
			t.is(head.method, typeof value.method === 'string' ? value.method : undefined);
			t.is(head.hasResult, 'result' in value);
			t.is(head.hasError, 'error' in value);
			if (id !== undefined)
				t.is(bytes.toString('utf8', head.idStart, head.idStart + Buffer.byteLength(id)), id);
		}),
		{numRuns: 2000},
	);
});
