import test from 'ava';
import {downgradeForm} from '../../lib/protocol/elicitation-form.js';
import type {JsonObject} from '../../lib/util/json.js';

const form = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({
	type: 'object',
	properties,
	...more,
});

test('returns a form that older clients support as the same object, without a response reader', t => {
	const schema = form({a: {type: 'string', enum: ['x']}, b: {type: 'boolean'}, odd: true});
	const older = downgradeForm(schema);
	t.is(older.schema, schema);
	t.is(older.readResponse, undefined);
	t.false(older.hasLostLimits);
});

test('returns a schema without properties unchanged', t => {
	for (const schema of [{}, {properties: 5}, {type: 'object'}]) t.is(downgradeForm(schema).schema, schema);
});

test('converts options with titles to enum and enumNames', t => {
	const oneOf = [{const: 'r', title: 'Red'}, {const: 'g'}];
	const {schema, readResponse, hasLostLimits} = downgradeForm(
		form({c: {type: 'string', title: 'C', oneOf, default: 'r'}}),
	);
	t.deepEqual(schema.properties, {
		c: {type: 'string', title: 'C', default: 'r', enum: ['r', 'g'], enumNames: ['Red', 'g']},
	});
	t.is(readResponse, undefined);
	t.false(hasLostLimits);
});

test('converts a multi-select field to one checkbox per option, ticked if it was a default', t => {
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
	test(`keeps the titles of multi-select options in ${member}`, t => {
		const items = {[member]: [{const: 'r', title: 'Red'}, {const: 'g'}]};
		const {schema} = downgradeForm(form({c: {type: 'array', items}}));
		t.like(schema.properties, {'c[r]': {title: 'c: Red'}, 'c[g]': {title: 'c: g'}});
		t.false('required' in schema);
	});

test('converts ticked checkboxes to a list in the order of the options, and keeps other members', t => {
	const fields = {
		c: {type: 'array', items: {enum: ['r', 'g', 'b']}},
		d: {type: 'array', items: {enum: ['x']}},
	};
	const {readResponse} = downgradeForm(form({...fields, n: {type: 'number'}}));
	t.deepEqual(readResponse?.({n: 1, 'c[b]': true, 'c[r]': true, 'c[g]': 'yes', other: 2}), {
		n: 1,
		other: 2,
		c: ['r', 'b'],
		d: [],
	});
});

test('converts a multi-select field without options to an empty list', t => {
	const {schema, readResponse} = downgradeForm(form({c: {type: 'array'}}));
	t.deepEqual(schema.properties, {});
	t.deepEqual(readResponse?.({}), {c: []});
});

test('keeps a field named __proto__', t => {
	const properties = JSON.parse(
		'{"__proto__":{"type":"string"},"c":{"type":"array","items":{"enum":["r"]}}}',
	);
	const {schema} = downgradeForm(form(properties));
	t.deepEqual(Object.keys(schema.properties as JsonObject), ['__proto__', 'c[r]']);
});
