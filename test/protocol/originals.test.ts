import test from 'ava';
import {ORIGINAL, restoreOriginals, withOriginals} from '../../lib/protocol/originals.js';
import {type JsonObject, objectOf} from '../../lib/util/json.js';

const always = (): boolean => true;

/** A result with these originals in its `_meta`, as received. */
const carrying = (originals: string, content: unknown = [{type: 'text', text: 'a'}]): JsonObject =>
	JSON.parse(`{"content":${JSON.stringify(content)},"_meta":{"${ORIGINAL}":${originals}}}`);

test('restores an original and removes its metadata', t => {
	const value = {content: [{type: 'text', text: 'a'}, 2]};
	const kept = withOriginals(value, new Map([['/content/0', {type: 'resource_link'}]]));
	t.deepEqual(restoreOriginals(kept, always), {content: [{type: 'resource_link'}, 2]});
});

test('keeps other members of _meta', t => {
	const kept = withOriginals({a: 1, _meta: {x: 1}}, new Map([['/a', 2]]));
	t.deepEqual(kept, {a: 1, _meta: {x: 1, [ORIGINAL]: {'/a': 2}}});
	t.deepEqual(restoreOriginals(kept, always), {a: 2, _meta: {x: 1}});
});

test('keeps earlier originals together with new ones', t => {
	const once = withOriginals({a: 1, b: 1}, new Map([['/a', 2]]));
	const twice = withOriginals(once, new Map([['/b', 3]]));
	t.deepEqual(restoreOriginals(twice, always), {a: 2, b: 3});
});

test('keeps originals that the receiver does not accept', t => {
	const kept = withOriginals(
		{a: 1, b: 1},
		new Map<string, unknown>([
			['/a', 'x'],
			['/b', 5],
		]),
	);
	t.deepEqual(
		restoreOriginals(kept, original => original === 5),
		{a: 1, b: 5, _meta: {[ORIGINAL]: {'/a': 'x'}}},
	);
	t.is(
		restoreOriginals(kept, () => false),
		kept,
	);
});

test('preserves up to 16 KiB of originals', t => {
	const least = Buffer.byteLength(JSON.stringify({'/a': ''}));
	const fits = 'é'.repeat((16 * 1024 - least) / 2);
	const value = {a: 1};
	t.true('_meta' in withOriginals(value, new Map([['/a', fits]])));
	t.is(withOriginals(value, new Map([['/a', `${fits}é`]])), value);
});

for (const pointer of [
	'/content/9',
	'/content/-1',
	'/content/1.5',
	'/content/x',
	'/content/1e9',
	'/none/0',
	'/content/0/text/x',
	'/content/0/__proto__/polluted',
	'/__proto__/polluted',
	'/constructor/prototype/polluted',
	'content/0/none/x',
])
	test(`ignores a path that does not exist: ${pointer}`, t => {
		const value = carrying(JSON.stringify({[pointer]: {type: 'text', text: 'hostile'}}));
		t.deepEqual(restoreOriginals(value, always).content, [{type: 'text', text: 'a'}]);
		t.is(Reflect.get({}, 'polluted'), undefined);
	});

test('restores a member named __proto__ without changing the prototype', t => {
	const value = restoreOriginals(carrying('{"/content/0/__proto__":{"polluted":true}}'), always);
	const [block] = value.content as [JsonObject];
	t.true(Object.hasOwn(block, '__proto__'));
	t.is(block.polluted, undefined);
	t.is(Object.getPrototypeOf(block), Object.prototype);
});

test('does not recurse for a pointer of many levels', t => {
	const value = carrying(JSON.stringify({['/content'.repeat(100_000)]: 1}));
	t.deepEqual(restoreOriginals(value, always).content, [{type: 'text', text: 'a'}]);
});

test('unescapes slashes and tildes in pointers', t => {
	const value = withOriginals({'a/b': {'c~d': 1}}, new Map([['/a~1b/c~0d', 2]]));
	t.deepEqual(restoreOriginals(value, always), {'a/b': {'c~d': 2}});
});

test('restores a removed member', t => {
	const value = withOriginals({annotations: {}}, new Map([['/annotations/lastModified', 'x']]));
	t.deepEqual(restoreOriginals(value, always), {annotations: {lastModified: 'x'}});
});

test('ignores originals that are empty or not an object', t => {
	for (const originals of ['null', '[1]', '"x"', '{}']) {
		const value = carrying(originals);
		t.is(restoreOriginals(value, always), value);
	}
});

test('ignores an original of the whole value', t => {
	const value = restoreOriginals(carrying('{"":[{"type":"text","text":"hostile"}]}'), always);
	t.deepEqual(objectOf(value).content, [{type: 'text', text: 'a'}]);
});

test('ignores a list index that is not a number', t => {
	const value = restoreOriginals(carrying('{"/content/":{"type":"text","text":"hostile"}}'), always);
	t.deepEqual(value.content, [{type: 'text', text: 'a'}]);
});

test('does not restore more originals than bridge sends [SEC-D11]', t => {
	const entries = Array.from({length: 200_000}, (_, at) => [`/content/0/${at}`, 1]);
	const value = carrying(JSON.stringify(Object.fromEntries(entries)));
	t.is(restoreOriginals(value, always), value);
});

test('copies an object only once when it restores many originals [SEC-D11]', t => {
	let reads = 0;
	const crowded = {
		get x(): number {
			return ++reads;
		},
	};
	const entries = Array.from({length: 1000}, (_, at): [string, number] => [`/a/${at}`, at]);
	const {a} = restoreOriginals({a: crowded, _meta: {[ORIGINAL]: Object.fromEntries(entries)}}, always);
	t.is(Object.keys(objectOf(a)).length, 1001);
	t.is(reads, 1);
});

test('restores an original inside another one without modifying the message', t => {
	const originals = {'/a': {b: 1, c: [1, 2]}, '/a/b': 2, '/a/c/1': 3};
	const before = structuredClone(originals);
	t.deepEqual(restoreOriginals({a: 0, _meta: {[ORIGINAL]: originals}}, always), {a: {b: 2, c: [1, 3]}});
	t.deepEqual(originals, before);
});
