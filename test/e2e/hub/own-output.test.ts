import test from 'ava';
import {inlineServer} from './inline-server.js';
import {type RunningHub, startHub, textIn} from './support.js';

const run = async (hub: RunningHub, command: string): Promise<string> =>
	textIn(await hub.call('run', {command}));

const tools = [
	{
		name: 'sites',
		outputSchema: {type: 'array', items: {type: 'object', properties: {name: {type: 'string'}}}},
	},
	{name: 'either', outputSchema: {anyOf: [{type: 'object'}, {type: 'array'}]}},
	{name: 'own', outputSchema: {type: 'object', properties: {result: {type: 'array'}}}},
	{name: 'bare'},
	{name: 'number', outputSchema: {type: 'integer'}},
	{name: 'nothing', outputSchema: {type: 'null'}},
];
const outputs = {
	sites: [{name: 'north'}, {name: 'south'}],
	either: {result: 1},
	own: {result: [1]},
	bare: [1, 2],
	number: 5,
	nothing: null,
};

const stateless = {
	...inlineServer(`
const tools = ${JSON.stringify(tools)};
const outputs = ${JSON.stringify(outputs)};
methods['server/discover'] = () => ({resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: {tools: {}},
	_meta: {'io.modelcontextprotocol/serverInfo': {name: 'inline', version: '1'}}});
methods['tools/list'] = () => ({resultType: 'complete', tools: tools.map(tool => ({...tool, inputSchema: schema}))});
methods['tools/call'] = ({name}) => ({resultType: 'complete', content: [], structuredContent: outputs[name]});
`),
	targetVersion: '2026-07-28',
};

const cases = [
	['a list', 's = wix.sites(); s[0].name', 'north'],
	['a list in Python', '[s.name for s in wix.sites()]', '["north","south"]'],
	['a list of a tool without a schema', 'wix.bare()', '[1,2]'],
	['an object of a tool whose schema allows lists', 'wix.either()', '{"result":1}'],
	['an object with the member result', 'wix.own()', '{"result":[1]}'],
	['a number', 'wix.number()', '5'],
	['None', '[wix.nothing()]', '[null]'],
	[
		'signatures',
		'[t.signature for t in proxy.list_tools("wix")][:3]',
		JSON.stringify([
			'wix.sites() -> list[{name: str}]',
			'wix.either() -> dict | list',
			'wix.own() -> {result: list}',
		]),
	],
] as const;

test('run returns the output of a 2026-07-28 upstream exactly as its tool did [A-D9]', async t => {
	const hub = await startHub(t, {servers: {wix: stateless}});
	for (const [what, command, expected] of cases) t.is(await run(hub, command), expected, what);
});

test('expose: tools wraps the output of a 2026-07-28 upstream in an object [A-D9]', async t => {
	const hub = await startHub(t, {expose: 'tools', servers: {wix: stateless}});
	t.like(await hub.call('wix__sites'), {result: {structuredContent: {result: outputs.sites}}});
});

const fastmcp = inlineServer(`
const wrapped = {type: 'object', properties: {result: {type: 'array', items: {type: 'integer'}}}, required: ['result'], 'x-fastmcp-wrap-result': true};
const own = {type: 'object', properties: {result: {type: 'array'}}};
methods['tools/list'] = () => ({tools: [
	{name: 'wrapped', inputSchema: schema, outputSchema: wrapped}, {name: 'own', inputSchema: schema, outputSchema: own}]});
methods['tools/call'] = () => ({content: [{type: 'text', text: '[1,2]'}], structuredContent: {result: [1, 2]}});
`);

test('run unwraps the result of a FastMCP tool whose schema is marked as wrapped [A-D9]', async t => {
	const hub = await startHub(t, {servers: {fm: fastmcp}});
	t.is(await run(hub, 'fm.wrapped()'), '[1,2]');
	t.is(await run(hub, '[n + 1 for n in fm.wrapped()]'), '[2,3]');
	t.is(await run(hub, 'fm.own()'), '{"result":[1,2]}');
	t.is(await run(hub, 'proxy.help("fm.wrapped")'), 'fm.wrapped() -> list[int]');
});
