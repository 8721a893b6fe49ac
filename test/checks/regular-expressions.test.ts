import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import test from 'ava';
import {analyse} from 'scslre';
import {allExpressions, expressionsIn, root} from '../helpers/regular-expressions.js';

const all = allExpressions();

/** The reasons why an expression may take more than linear time, if any. */
const slowness = ({source, flags}: RegExp): string[] =>
	analyse({source, flags}).reports.map(({type}) => type);

/**
 * Files that compile text into expressions, each with the reason why no text of a peer or a file becomes syntax. All but
 * the last compile constants as they are loaded, and those are analyzed as literals are.
 */
const dynamic = new Map([
	['lib/raw/port-rule.ts', 'constants'],
	['lib/replay/volatile-values.ts', 'sources of literals'],
	['lib/files/atomic-write.ts', 'constants'],
	['lib/files/folder-lock.ts', 'constants'],
	['lib/core/known-secrets.ts', 'sources of literals'],
	['lib/wire/exact-numbers.ts', 'constants and random hexadecimal digits'],
	['lib/wire/oversized.ts', 'constants'],
	['lib/view/text-search.ts', 'every character of the text that is syntax is escaped, and the text is short'],
]);

test('no regular expression in lib, bin and pipelines takes more than linear time [SEC-D11]', async t => {
	let count = 0;
	for (const {file, literals} of await all) {
		count += literals.length;
		for (const literal of literals) t.deepEqual(slowness(literal), [], `${file}: ${literal}`);
	}
	t.true(count > 200, `${count} expressions were found`);
});

test('only listed files compile text to a regular expression [SEC-D1]', async t => {
	const found = (await all).filter(({file, isDynamic}) => isDynamic && !isTypeOnly(file));
	const unknown = found.map(({file}) => file).filter(file => !dynamic.has(file));
	t.deepEqual(unknown, []);
	t.is(found.length, dynamic.size);
});

/** Type references such as `instanceof RegExp` do not count. */
const isTypeOnly = (file: string): boolean => !/\bRegExp\(/.test(readFileSync(join(root, file), 'utf8'));

test.serial('expressions that modules compile while they load take linear time [SEC-D11]', async t => {
	const Original = globalThis.RegExp;
	const made: RegExp[] = [];
	globalThis.RegExp = new Proxy(Original, {
		construct(target, [source, flags]) {
			const expression = new target(source, flags);
			made.push(expression);
			return expression;
		},
	});
	t.teardown(() => {
		globalThis.RegExp = Original;
	});
	for (const file of [...dynamic.keys()].slice(0, -1)) {
		const before = made.length;
		await import(new URL(`../../${file.replace(/\.ts$/, '.js')}`, import.meta.url).href);
		const ofFile = made.slice(before);
		t.true(ofFile.length > 0, `${file} makes none as it is loaded`);
		for (const expression of ofFile) t.deepEqual(slowness(expression), [], `${file}: ${expression}`);
	}
});

for (const planted of ['/(a+)+b/', '/a+b/', String.raw`/^\s*(\w+\s*)*$/`, '/(?:.*,)*x/'])
	test(`the check finds ${planted} [SEC-D11]`, async t => {
		const {literals} = await expressionsIn(
			`export const planted = (text: string): boolean => ${planted}.test(text);`,
		);
		t.is(literals.length, 1);
		t.true(literals.every(literal => slowness(literal).length > 0));
	});

test('the check finds an expression that is compiled from text [SEC-D1]', async t => {
	t.true((await expressionsIn('export const f = (text: string) => new RegExp(text);')).isDynamic);
});
