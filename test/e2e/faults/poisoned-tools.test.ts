import process from 'node:process';
import test from 'ava';
import {opening} from '../../helpers/bridge.js';
import {stdinMessages} from '../../helpers/ndjson.js';
import {start} from '../../helpers/program.js';
import {startUpstream} from '../../helpers/upstream.js';

/** A server with one tool. Its schemas are JSON on the command line. */
const program = `const tool = {name: 'poisoned', ...JSON.parse(process.argv[1])};
	${stdinMessages}.on('data', ({id, method, params}) => {
		const result = method === 'initialize'
			? {protocolVersion: '2025-11-25', capabilities: {tools: {}}, serverInfo: {name: 'poisoned', version: '1'}}
			: method === 'tools/list' ? {tools: [tool]} : {content: [], structuredContent: {a: 'a'.repeat(40) + '!'}};
		if (id !== undefined) console.log(JSON.stringify({jsonrpc: '2.0', id, result}));
	});`;

let deep: object = {type: 'string'};
for (let level = 0; level < 300; level++) deep = {anyOf: [deep, {type: 'null'}]};

const hostileSchemas = (url: string): ReadonlyArray<readonly [title: string, schema: object]> => [
	['refers to a URL', {type: 'object', $ref: url, properties: {a: {$ref: `${url}/a`}}, $schema: url}],
	['is deeply nested', {type: 'object', properties: {a: deep}}],
	[
		'has a pattern with exponential backtracking',
		{type: 'object', properties: {a: {type: 'string', pattern: '^(a+)+$'}}},
	],
	['has an invalid pattern', {type: 'object', properties: {a: {pattern: '(('}, '[': {}}}],
	['refers to itself', {type: 'object', $ref: '#', properties: {a: {$ref: '#/properties/a'}}}],
	[
		'has keys of object prototypes',
		JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}}}'),
	],
];

for (const version of ['2025-11-25', '2024-11-05'])
	test(`forwards hostile tool schemas to a ${version} client unchanged and does not evaluate them [A19]`, async t => {
		const upstream = await startUpstream(t);
		for (const [title, schema] of hostileSchemas(upstream.url)) {
			const tool = JSON.stringify({inputSchema: schema, outputSchema: schema});
			const bridge = start(t, ['--cache-tools', '--', process.execPath, '-e', program, tool]);
			await bridge.request(0, 'initialize', {...opening, protocolVersion: version});
			bridge.send({method: 'notifications/initialized'});
			const {result} = await bridge.request(1, 'tools/list');
			const [listed] = (result as {tools: Array<{inputSchema: object}>}).tools;
			t.is(JSON.stringify(listed?.inputSchema), JSON.stringify(schema), title);
			const {result: called} = await bridge.request(2, 'tools/call', {name: 'poisoned'});
			t.deepEqual(
				(called as {structuredContent: object}).structuredContent,
				{a: `${'a'.repeat(40)}!`},
				title,
			);
			t.is(await bridge.end(), 0);
		}
		t.is(upstream.met.length, 0, 'bridge resolved a reference');
	});
