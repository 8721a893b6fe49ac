import test from 'ava';
import {needsWrapper, toHandshakeTools, wrapOutput} from '../../lib/protocol/stateless-output.js';

test('wraps output whose schema is not for an object', t => {
	t.false(needsWrapper({}));
	t.false(needsWrapper({outputSchema: {type: 'object'}}));
	for (const outputSchema of [{}, {type: 'array'}, {type: ['object', 'null']}, true])
		t.true(needsWrapper({outputSchema}));
});

test('returns tools that handshake clients accept as the same object', t => {
	const result = {tools: [{name: 'x', inputSchema: {type: 'object', properties: {a: {}}}}, 5]};
	t.is(toHandshakeTools(result), result);
	const odd = {tools: 'none'};
	t.is(toHandshakeTools(odd), odd);
});

test('moves references in lists with the schema, but not values that only look like references', t => {
	const schema = {type: 'array', prefixItems: [{$ref: '#/$defs/a'}, {$ref: '#anchor'}, {$ref: 5}, 7]};
	const [tool] = toHandshakeTools({tools: [{outputSchema: schema}]}).tools as [{outputSchema: unknown}];
	t.deepEqual(tool.outputSchema, {
		type: 'object',
		properties: {
			result: {
				type: 'array',
				prefixItems: [{$ref: '#/properties/result/$defs/a'}, {$ref: '#anchor'}, {$ref: 5}, 7],
			},
		},
		required: ['result'],
	});
});

test('repeats wrapped output as text, unless the result has text', t => {
	t.deepEqual(wrapOutput({structuredContent: [1]}, false), {
		content: [{type: 'text', text: '[1]'}],
		structuredContent: {result: [1]},
	});
	const content = [{type: 'image'}, {type: 'text', text: 'a'}];
	t.deepEqual(wrapOutput({content, structuredContent: 0}, true), {content, structuredContent: {result: 0}});
	for (const result of [{content}, {structuredContent: {a: 1}}]) t.is(wrapOutput(result, false), result);
});
