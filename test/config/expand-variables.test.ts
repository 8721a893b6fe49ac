import test from 'ava';
import fc from 'fast-check';
import {expandVariables} from '../../lib/config/expand-variables.js';

const environment = {NAME: 'value', EMPTY: '', NESTED: `$\{NAME}`, _x1: 'under'};

for (const [text, expected] of [
	[`$\{NAME}`, 'value'],
	[`a $\{NAME} b $\{NAME}`, 'a value b value'],
	[`$\{_x1}`, 'under'],
	[`$\{EMPTY}`, ''],
	[`$\{EMPTY:-default}`, 'default'],
	[`$\{NAME:-default}`, 'value'],
	[`$\{NONE:-default}`, 'default'],
	[`$\{NONE:-}`, ''],
	[`$\{NONE:-a:-b $ {}`, 'a:-b $ {'],
	[`$\{NESTED}`, `$\{NAME}`],
	[`$\{env:NAME}`, 'value'],
	[`$$\{NAME}`, `$\{NAME}`],
	['$NAME $$ $(NAME) {NAME}', '$NAME $$ $(NAME) {NAME}'],
	['`id` $(id) ; rm', '`id` $(id) ; rm'],
] as const)
	test(`makes ${JSON.stringify(expected)} of ${text} [E11]`, t => {
		t.like(expandVariables({key: text}, environment), {value: {key: expected}, issues: []});
	});

for (const [text, says] of [
	[`$\{NONE}`, /The variable NONE is not set/],
	[`$\{constructor}`, /The variable constructor is not set/],
	[`$\{NAME`, /not followed by a name/],
	[`$\{}`, /not followed by a name/],
	[`$\{1X}`, /not followed by a name/],
	[`$\{input:key}`, /not followed by a name/],
] as const)
	test(`refuses ${text} [E11]`, t => {
		const {issues: mistakes} = expandVariables({servers: {a: {args: ['x', text]}}}, environment);
		t.is(mistakes.length, 1);
		t.deepEqual(mistakes[0]?.path, ['servers', 'a', 'args', 1]);
		t.regex(mistakes[0]?.text ?? '', says);
	});

test('expands values only, never keys', t => {
	const text = `$\{NAME}`;
	const {value} = expandVariables(Object.fromEntries([[text, [text, 1, true, null]]]), environment);
	t.deepEqual(value, Object.fromEntries([[text, ['value', 1, true, null]]]));
});

test('tells which variables a value is made of', t => {
	const {variables} = expandVariables({a: ['x', `$\{NAME}$\{NONE:-}`]}, environment);
	t.deepEqual(variables.get(['a', 1]), ['NAME', 'NONE']);
	t.false(variables.has(['a', 0]));
});

test('tells of every mistake', t => {
	t.is(expandVariables([`$\{A}$\{B}`, {c: `$\{C}`}], {}).issues.length, 3);
});

test('leaves alone whatever has no variable in it', t => {
	fc.assert(
		fc.property(fc.jsonValue(), value => {
			fc.pre(!JSON.stringify(value).includes(`$\{`));
			t.deepEqual(expandVariables(value, {}).value, value);
		}),
	);
});
