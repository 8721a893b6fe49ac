import test from 'ava';
import {type FileExtension, MAX_CONFIG_VALUES, parseConfigText} from '../../lib/config/parse-text.js';
import {runBridge} from '../helpers/bridge.js';
import {complaint, loaded, written} from './support.js';

/* Files that may come with a cloned repository, and that bridge reads before they are trusted. */

for (const [kind, text, line] of [
	['sequences on a line', '- '.repeat(6000), 1],
	['explicit keys on a line', '? '.repeat(6000), 1],
	['brackets', '['.repeat(6000), 1],
	['pairs in a bracket', `a:\n [${'a: '.repeat(6000)}`, 2],
	['explicit keys in braces', '{? '.repeat(6000), 1],
	['maps on the same lines', 'b: b: \n'.repeat(6000), undefined],
	['lines, each further right', Array.from({length: 1000}, (_, at) => `${' '.repeat(at)}k:`).join('\n'), 100],
] as const)
	test(`rejects deeply nested ${kind} before the stack overflows [SEC-D11]`, async t => {
		t.regex(await complaint(t, text), new RegExp(`yaml:${line ?? '\\d+'}: This is nested too deeply`));
	});

for (const command of ['trust', 'config'])
	test(`bridge ${command} reports a file whose nesting would abort the process [SEC-D11]`, async t => {
		const file = await written(t, 'bridge.yaml', '- '.repeat(1500));
		const {code, stderr} = await runBridge(
			command === 'trust' ? ['trust', file] : ['config', '--config', file],
		);
		t.is(code, 2);
		t.regex(stderr, /bridge\.yaml:1: This is nested too deeply/);
	});

/** Generates a list with this number of values, including the list itself. */
const listOf: {readonly [ending in FileExtension]?: (count: number) => string} = {
	'.yaml': count => `a:\n${'- 1\n'.repeat(count - 2)}`,
	'.json': count => `{"a": [${'1,'.repeat(count - 2)}]}`,
	'.toml': count => `a = [${'1,'.repeat(count - 2)}]`,
};

for (const [ending, text] of Object.entries(listOf) as Array<[FileExtension, (count: number) => string]>) {
	test(`accepts a file in ${ending} with the maximum number of values [SEC-D11]`, t => {
		const {value, issues} = parseConfigText(text(MAX_CONFIG_VALUES), ending, MAX_CONFIG_VALUES);
		t.deepEqual(issues, []);
		t.is((value as {a: unknown[]}).a.length, MAX_CONFIG_VALUES - 2);
	});

	for (const more of [1, 200_000])
		test(`rejects a file in ${ending} with ${MAX_CONFIG_VALUES + more} values [SEC-D11]`, async t => {
			const limit = new RegExp(
				`bridge\\${ending}.*: A configuration has at most ${MAX_CONFIG_VALUES} values\\.`,
			);
			const name = `bridge${ending}`;
			t.regex(await complaint(t, text(MAX_CONFIG_VALUES + more), {name}), limit);
		});
}

test('counts values that are repeated by aliases each time [SEC-D11]', async t => {
	const lists = Array.from({length: 10}, (_, at) => {
		const aliases = `*a${at},`.repeat(50);
		return `a${at}: &a${at} [${'1,'.repeat(1000)}]\nb${at}: [${aliases}]`;
	});
	t.regex(await complaint(t, lists.join('\n')), /A configuration has at most 20000 values/);
});

for (const name of ['bridge.yaml', 'bridge.json'])
	test(`stores a long key above many values only once in ${name} [SEC-D11]`, async t => {
		const key = 'k'.repeat(500_000);
		const text = `{"limits": {"${key}": [\n${'1,'.repeat(15_000)}1]}}`;
		const {lines, issues} = parseConfigText(text, name === 'bridge.yaml' ? '.yaml' : '.json');
		t.deepEqual(issues, []);
		t.is(lines.get(['limits', key]), 1);
		t.is(lines.get(['limits', key, 15_000]), 2);
		t.regex(await complaint(t, text, {name}), /limits\.k+…: This key is not known/);
	});

test('finds duplicates among many keys [SEC-D11]', async t => {
	const keys = Array.from({length: 15_000}, (_, at) => `  k${at}: x`);
	const text = [
		'servers:',
		'  s:',
		'    url: http://127.0.0.1/',
		'    headers:',
		...keys.map(key => `    ${key}`),
	];
	t.is((await loaded(t, text.join('\n'))).config.services.get('s')?.name, 's');
	const withDuplicates = [...text, '      k7: y', '      "k8": z'].join('\n');
	const message = await complaint(t, withDuplicates);
	t.regex(message, /yaml:15005:7: Duplicate key/);
	t.regex(message, /yaml:15006:7: Duplicate key/);
});

test('counts 200,000 errors in one value [SEC-D11]', async t => {
	t.regex(await complaint(t, `listen: "${'${'.repeat(200_000)}"`), /has 200000 mistakes:/);
});
