import test from 'ava';
import fc from 'fast-check';
import {stripServerPrefix, unifiedNames} from '../../lib/hub/unified-names.js';

const names = (...all: Array<[server: string, name: string]>): string[] => [
	...unifiedNames(all.map(([server, name]) => ({server, name}))).keys(),
];

test('a tool is named after its server', t => {
	t.deepEqual(names(['wix', 'list_sites'], ['my-files', 'read-file']), [
		'wix__list_sites',
		'my-files__read-file',
	]);
});

test('what models do not take in a name is replaced', t => {
	t.deepEqual(names(['a', 'users.get/all']), ['a__users_get_all']);
});

test('two tools that would have one name are told apart, the same way each time', t => {
	const [first, second] = names(['a', 'b.c'], ['a', 'b_c']);
	t.is(first, 'a__b_c');
	t.regex(second ?? '', /^a__b_c_[0-9a-f]{8}$/);
	t.is(names(['a', 'b.c'], ['a', 'b_c'])[1], second);
	t.is(names(['a', 'b__c'], ['a__b', 'c']).length, 2);
});

test('a name that is too long keeps the start of both of its parts', t => {
	const [name = ''] = names(['s'.repeat(64), `read_${'x'.repeat(100)}`]);
	t.is(name.length, 64);
	t.regex(name, /^s{20}__read_x+_[0-9a-f]{8}$/);
});

test('whatever servers call their tools, each has a name of its own that models take', t => {
	const owned = fc.record({
		server: fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,63}$/),
		name: fc.string({minLength: 1, maxLength: 80, unit: 'binary'}),
	});
	fc.assert(
		fc.property(fc.uniqueArray(owned, {selector: ({server, name}) => `${server} ${name}`}), all => {
			const unified = unifiedNames(all);
			t.is(unified.size, all.length);
			for (const name of unified.keys()) t.regex(name, /^[A-Za-z0-9_-]{1,64}$/);
		}),
	);
});

test('a name in the list is of the server that it starts with, also where that is cut [A-G1]', t => {
	const server = 'a-server-with-a-name-that-is-long';
	t.is(stripServerPrefix('wix__search', 'wix'), 'search');
	t.is(stripServerPrefix(`${server}__search`, server), 'search');
	const [name = ''] = unifiedNames([{server, name: 'x'.repeat(60)}]).keys();
	t.true(stripServerPrefix(name, server)?.startsWith('xxx'));
	t.is(stripServerPrefix('wix__search', 'notion'), undefined);
});
