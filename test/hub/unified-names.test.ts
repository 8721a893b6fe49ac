import test from 'ava';
import fc from 'fast-check';
import {stripServerPrefix, unifiedNames} from '../../lib/hub/unified-names.js';

const names = (...all: Array<[server: string, name: string]>): string[] => [
	...unifiedNames(all.map(([server, name]) => ({server, name}))).keys(),
];

test('prefixes the name of a tool with its server', t => {
	t.deepEqual(names(['wix', 'list_sites'], ['my-files', 'read-file']), [
		'wix__list_sites',
		'my-files__read-file',
	]);
});

test('replaces characters that models do not accept in names', t => {
	t.deepEqual(names(['a', 'users.get/all']), ['a__users_get_all']);
});

test('adds a stable suffix if two tools would have the same name', t => {
	const [first, second] = names(['a', 'b.c'], ['a', 'b_c']);
	t.is(first, 'a__b_c');
	t.regex(second ?? '', /^a__b_c_[0-9a-f]{8}$/);
	t.is(names(['a', 'b.c'], ['a', 'b_c'])[1], second);
	t.is(names(['a', 'b__c'], ['a__b', 'c']).length, 2);
});

test('keeps the start of both parts of a name that is too long', t => {
	const [name = ''] = names(['s'.repeat(64), `read_${'x'.repeat(100)}`]);
	t.is(name.length, 64);
	t.regex(name, /^s{20}__read_x+_[0-9a-f]{8}$/);
});

test('gives each tool a unique name that models accept, whatever its server calls it', t => {
	const item = fc.record({
		server: fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,63}$/),
		name: fc.string({minLength: 1, maxLength: 80, unit: 'binary'}),
	});
	fc.assert(
		fc.property(fc.uniqueArray(item, {selector: ({server, name}) => `${server} ${name}`}), all => {
			const unified = unifiedNames(all);
			t.is(unified.size, all.length);
			for (const name of unified.keys()) t.regex(name, /^[A-Za-z0-9_-]{1,64}$/);
		}),
	);
});

test('finds the server of a name by its prefix, even if the prefix is truncated [A-G1]', t => {
	const server = 'a-server-with-a-name-that-is-long';
	t.is(stripServerPrefix('wix__search', 'wix'), 'search');
	t.is(stripServerPrefix(`${server}__search`, server), 'search');
	const [name = ''] = unifiedNames([{server, name: 'x'.repeat(60)}]).keys();
	t.true(stripServerPrefix(name, server)?.startsWith('xxx'));
	t.is(stripServerPrefix('wix__search', 'notion'), undefined);
});
