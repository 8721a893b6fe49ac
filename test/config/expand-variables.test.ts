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
	test(`expands ${text} to ${JSON.stringify(expected)} [E11]`, t => {
		t.like(expandVariables({key: text}, environment), {value: {key: expected}, issues: []});
	});

for (const [text, pattern] of [
	[`$\{NONE}`, /The variable NONE is not set/],
	[`$\{constructor}`, /The variable constructor is not set/],
	[`$\{NAME`, /Invalid/],
	[`$\{}`, /Invalid/],
	[`$\{1X}`, /Invalid/],
	[`$\{input:key}`, /Invalid/],
] as const)
	test(`rejects ${text} [E11]`, t => {
		const {issues} = expandVariables({servers: {a: {args: ['x', text]}}}, environment);
		t.is(issues.length, 1);
		t.deepEqual(issues[0]?.path, ['servers', 'a', 'args', 1]);
		t.regex(issues[0]?.text ?? '', pattern);
	});

test('expands values but not keys', t => {
	const text = `$\{NAME}`;
	const {value} = expandVariables(Object.fromEntries([[text, [text, 1, true, null]]]), environment);
	t.deepEqual(value, Object.fromEntries([[text, ['value', 1, true, null]]]));
});

test('returns the variables of each value', t => {
	const {variables} = expandVariables({a: ['x', `$\{NAME}$\{NONE:-}`]}, environment);
	t.deepEqual(variables.get(['a', 1]), ['NAME', 'NONE']);
	t.false(variables.has(['a', 0]));
});

test('reports every invalid reference', t => {
	t.is(expandVariables([`$\{A}$\{B}`, {c: `$\{C}`}], {}).issues.length, 3);
});

test('does not change values without variables', t => {
	fc.assert(
		fc.property(fc.jsonValue(), value => {
			fc.pre(!JSON.stringify(value).includes(`$\{`));
			t.deepEqual(expandVariables(value, {}).value, value);
		}),
	);
});
