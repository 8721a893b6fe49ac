import test from 'ava';
import {ORIGINAL, restoreOriginals, withOriginals} from '../../lib/protocol/originals.js';
import {type JsonObject, objectOf} from '../../lib/util/json.js';

const always = (): boolean => true;

/** A result with this in its meta, as it comes over the wire. */
const carrying = (originals: string, content: unknown = [{type: 'text', text: 'a'}]): JsonObject =>
	JSON.parse(`{"content":${JSON.stringify(content)},"_meta":{"${ORIGINAL}":${originals}}}`);

test('what is kept is put back, and nothing is left of it', t => {
	const value = {content: [{type: 'text', text: 'a'}, 2]};
	const kept = withOriginals(value, new Map([['/content/0', {type: 'resource_link'}]]));
	t.deepEqual(restoreOriginals(kept, always), {content: [{type: 'resource_link'}, 2]});
});

test('meta of its own stays', t => {
	const kept = withOriginals({a: 1, _meta: {x: 1}}, new Map([['/a', 2]]));
	t.deepEqual(kept, {a: 1, _meta: {x: 1, [ORIGINAL]: {'/a': 2}}});
	t.deepEqual(restoreOriginals(kept, always), {a: 2, _meta: {x: 1}});
});

test('what was kept before stays with what is kept now', t => {
	const once = withOriginals({a: 1, b: 1}, new Map([['/a', 2]]));
	const twice = withOriginals(once, new Map([['/b', 3]]));
	t.deepEqual(restoreOriginals(twice, always), {a: 2, b: 3});
});

test('what the receiver does not take stays where it is kept', t => {
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

test('more than 16 KiB is not carried twice, and just that is', t => {
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
	test(`a place that is not there is left alone: ${pointer}`, t => {
		const value = carrying(JSON.stringify({[pointer]: {type: 'text', text: 'hostile'}}));
		t.deepEqual(restoreOriginals(value, always).content, [{type: 'text', text: 'a'}]);
		t.is(Reflect.get({}, 'polluted'), undefined);
	});

test('a member called __proto__ is a member', t => {
	const value = restoreOriginals(carrying('{"/content/0/__proto__":{"polluted":true}}'), always);
	const [block] = value.content as [JsonObject];
	t.true(Object.hasOwn(block, '__proto__'));
	t.is(block.polluted, undefined);
	t.is(Object.getPrototypeOf(block), Object.prototype);
});

test('a pointer of many levels costs no stack', t => {
	const value = carrying(JSON.stringify({['/content'.repeat(100_000)]: 1}));
	t.deepEqual(restoreOriginals(value, always).content, [{type: 'text', text: 'a'}]);
});

test('names with slashes and tildes are found', t => {
	const value = withOriginals({'a/b': {'c~d': 1}}, new Map([['/a~1b/c~0d', 2]]));
	t.deepEqual(restoreOriginals(value, always), {'a/b': {'c~d': 2}});
});

test('a member that was taken out comes back', t => {
	const value = withOriginals({annotations: {}}, new Map([['/annotations/lastModified', 'x']]));
	t.deepEqual(restoreOriginals(value, always), {annotations: {lastModified: 'x'}});
});

test('what is no map of originals is none', t => {
	for (const originals of ['null', '[1]', '"x"', '{}']) {
		const value = carrying(originals);
		t.is(restoreOriginals(value, always), value);
	}
});

test('the place of the whole is left alone', t => {
	const value = restoreOriginals(carrying('{"":[{"type":"text","text":"hostile"}]}'), always);
	t.deepEqual(objectOf(value).content, [{type: 'text', text: 'a'}]);
});

test('a place in a list without a number is left alone', t => {
	const value = restoreOriginals(carrying('{"/content/":{"type":"text","text":"hostile"}}'), always);
	t.deepEqual(value.content, [{type: 'text', text: 'a'}]);
});

test('leaves more originals than a bridge sends where they are [SEC-D11]', t => {
	const places = Array.from({length: 200_000}, (_, at) => [`/content/0/${at}`, 1]);
	const value = carrying(JSON.stringify(Object.fromEntries(places)));
	t.is(restoreOriginals(value, always), value);
});

test('copies an object once, however many originals it takes back [SEC-D11]', t => {
	let reads = 0;
	const crowded = {
		get x(): number {
			return ++reads;
		},
	};
	const places = Array.from({length: 1000}, (_, at): [string, number] => [`/a/${at}`, at]);
	const {a} = restoreOriginals({a: crowded, _meta: {[ORIGINAL]: Object.fromEntries(places)}}, always);
	t.is(Object.keys(objectOf(a)).length, 1001);
	t.is(reads, 1);
});

test('puts an original into another one, and leaves both as they were', t => {
	const originals = {'/a': {b: 1, c: [1, 2]}, '/a/b': 2, '/a/c/1': 3};
	const before = structuredClone(originals);
	t.deepEqual(restoreOriginals({a: 0, _meta: {[ORIGINAL]: originals}}, always), {a: {b: 2, c: [1, 3]}});
	t.deepEqual(originals, before);
});
