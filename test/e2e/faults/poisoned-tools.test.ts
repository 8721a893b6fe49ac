import process from 'node:process';
import test from 'ava';
import {opening} from '../../helpers/bridge.js';
import {stdinMessages} from '../../helpers/ndjson.js';
import {start} from '../../helpers/program.js';
import {startUpstream} from '../../helpers/upstream.js';

/** A server with one tool, whose schemas stand on its command line. */
const program = `const tool = {name: 'poisoned', ...JSON.parse(process.argv[1])};
	${stdinMessages}.on('data', ({id, method, params}) => {
		const result = method === 'initialize'
			? {protocolVersion: '2025-11-25', capabilities: {tools: {}}, serverInfo: {name: 'poisoned', version: '1'}}
			: method === 'tools/list' ? {tools: [tool]} : {content: [], structuredContent: {a: 'a'.repeat(40) + '!'}};
		if (id !== undefined) console.log(JSON.stringify({jsonrpc: '2.0', id, result}));
	});`;

let deep: object = {type: 'string'};
for (let level = 0; level < 300; level++) deep = {anyOf: [deep, {type: 'null'}]};

const poisons = (url: string): ReadonlyArray<readonly [what: string, schema: object]> => [
	['refers to an address', {type: 'object', $ref: url, properties: {a: {$ref: `${url}/a`}}, $schema: url}],
	['is deep', {type: 'object', properties: {a: deep}}],
	[
		'has a pattern that takes for ever',
		{type: 'object', properties: {a: {type: 'string', pattern: '^(a+)+$'}}},
	],
	['has a pattern that is none', {type: 'object', properties: {a: {pattern: '(('}, '[': {}}}],
	['refers to itself', {type: 'object', $ref: '#', properties: {a: {$ref: '#/properties/a'}}}],
	[
		'is about prototypes',
		JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{}}}'),
	],
];

for (const version of ['2025-11-25', '2024-11-05'])
	test(`hostile schemas of tools are passed on to a client of ${version}, and nothing is done with them [A19]`, async t => {
		const upstream = await startUpstream(t);
		for (const [what, schema] of poisons(upstream.url)) {
			const tool = JSON.stringify({inputSchema: schema, outputSchema: schema});
			const bridge = start(t, ['--cache-tools', '--', process.execPath, '-e', program, tool]);
			await bridge.request(0, 'initialize', {...opening, protocolVersion: version});
			bridge.send({method: 'notifications/initialized'});
			const {result} = await bridge.request(1, 'tools/list');
			const [shown] = (result as {tools: Array<{inputSchema: object}>}).tools;
			t.is(JSON.stringify(shown?.inputSchema), JSON.stringify(schema), what);
			const {result: called} = await bridge.request(2, 'tools/call', {name: 'poisoned'});
			t.deepEqual((called as {structuredContent: object}).structuredContent, {a: `${'a'.repeat(40)}!`}, what);
			t.is(await bridge.end(), 0);
		}
		t.is(upstream.met.length, 0, 'nobody was asked for anything');
	});
