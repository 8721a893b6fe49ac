import test from 'ava';
import {downgradeForm} from '../../lib/protocol/elicitation-form.js';
import type {JsonObject} from '../../lib/util/json.js';

const form = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
	type: 'object',
	properties,
	...more,
});

test('a form that was there before stays the very object, and so do its answers', t => {
	const schema = form({a: {type: 'string', enum: ['x']}, b: {type: 'boolean'}, odd: true});
	const older = downgradeForm(schema);
	t.is(older.schema, schema);
	t.is(older.readResponse, undefined);
	t.false(older.hasLostLimits);
});

test('a schema without properties stays as it is', t => {
	for (const schema of [{}, {properties: 5}, {type: 'object'}]) t.is(downgradeForm(schema).schema, schema);
});

test('options with titles become values with names', t => {
	const oneOf = [{const: 'r', title: 'Red'}, {const: 'g'}];
	const {
		schema,
		readResponse: answer,
		hasLostLimits,
	} = downgradeForm(form({c: {type: 'string', title: 'C', oneOf, default: 'r'}}));
	t.deepEqual(schema.properties, {
		c: {type: 'string', title: 'C', default: 'r', enum: ['r', 'g'], enumNames: ['Red', 'g']},
	});
	t.is(answer, undefined);
	t.false(hasLostLimits);
});

test('a choice of several becomes a box for each option, ticked where it was the default', t => {
	const field = {
		type: 'array',
		title: 'Colours',
		description: 'd',
		items: {enum: ['r', 'g']},
		default: ['g'],
		minItems: 1,
	};
	const {schema, hasLostLimits} = downgradeForm(
		form({c: field, n: {type: 'number'}}, {required: ['c', 'n']}),
	);
	t.deepEqual(schema, {
		type: 'object',
		properties: {
			'c[r]': {type: 'boolean', title: 'Colours: r', description: 'd', default: false},
			'c[g]': {type: 'boolean', title: 'Colours: g', description: 'd', default: true},
			n: {type: 'number'},
		},
		required: ['n'],
	});
	t.true(hasLostLimits);
});

for (const member of ['anyOf', 'oneOf'])
	test(`options of several may have titles, in ${member}`, t => {
		const items = {[member]: [{const: 'r', title: 'Red'}, {const: 'g'}]};
		const {schema} = downgradeForm(form({c: {type: 'array', items}}));
		t.like(schema.properties, {'c[r]': {title: 'c: Red'}, 'c[g]': {title: 'c: g'}});
		t.false('required' in schema);
	});

test('what was ticked becomes a list in the order of the options, and the rest stays', t => {
	const fields = {
		c: {type: 'array', items: {enum: ['r', 'g', 'b']}},
		d: {type: 'array', items: {enum: ['x']}},
	};
	const {readResponse: answer} = downgradeForm(form({...fields, n: {type: 'number'}}));
	t.deepEqual(answer?.({n: 1, 'c[b]': true, 'c[r]': true, 'c[g]': 'yes', other: 2}), {
		n: 1,
		other: 2,
		c: ['r', 'b'],
		d: [],
	});
});

test('a choice among nothing is a list of nothing', t => {
	const {schema, readResponse: answer} = downgradeForm(form({c: {type: 'array'}}));
	t.deepEqual(schema.properties, {});
	t.deepEqual(answer?.({}), {c: []});
});

test('a field called __proto__ is a field', t => {
	const properties = JSON.parse(
		'{"__proto__":{"type":"string"},"c":{"type":"array","items":{"enum":["r"]}}}',
	);
	const {schema} = downgradeForm(form(properties));
	t.deepEqual(Object.keys(schema.properties as JsonObject), ['__proto__', 'c[r]']);
});
