import test from 'ava';
import type {Message} from '../../helpers/bridge.js';
import {messageIn} from '../../helpers/gateway.js';
import {shareGateway} from './shared-gateway.js';

const MODERN = '2026-07-28';
const use = shareGateway({modern: {targetVersion: MODERN}, legacy: {}});
const PREFIX = 'io.modelcontextprotocol/';
const meta = {
	[`${PREFIX}protocolVersion`]: MODERN,
	[`${PREFIX}clientInfo`]: {name: 'test', version: '1'},
	[`${PREFIX}clientCapabilities`]: {},
};
const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;

const call = (name: string, id = 1): Message => ({
	id,
	method: 'tools/call',
	params: {name, arguments: {}, _meta: meta},
});
const valid = {'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'echo'};

for (const [title, headers] of [
	['another method', {...valid, 'mcp-method': 'tools/list'}],
	['another case of the method', {...valid, 'mcp-method': 'Tools/Call'}],
	['no method', {'mcp-protocol-version': MODERN, 'mcp-name': 'echo'}],
	['another name', {...valid, 'mcp-name': 'other'}],
	['another name in base64', {...valid, 'mcp-name': base64('other')}],
	['broken base64', {...valid, 'mcp-name': '=?base64?%%%?='}],
	['no name', {'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call'}],
	['another version', {...valid, 'mcp-protocol-version': '2025-11-25'}],
] as const)
	test(`rejects ${title} in the headers than in the message with 400 and -32020 [C14]`, async t => {
		const {gateway, upstream, service} = use('legacy');
		const reply = await gateway.post(service, call('echo', 5), headers);
		t.is(reply.status, 400);
		t.like(messageIn(reply), {id: 5, error: {code: -32020}});
		t.is(upstream.asked('tools/call').filter(({message}) => message.id === 5).length, 0);
	});

test('decodes a base64 name in a header before the comparison [C14]', async t => {
	const {gateway, service} = use('legacy');
	for (const name of ['ünïcode', ' spaced ', 'two\nlines', '=?base64?eA==?=', 'plain']) {
		const reply = await gateway.post(service, call(name), {...valid, 'mcp-name': base64(name)});
		t.is(reply.status, 200, name);
		t.like(messageIn(reply), {id: 1, result: {content: [{type: 'text'}]}});
	}
});

test('forwards parameter headers only to upstreams of the stateless era [C14]', async t => {
	const parameters = {'mcp-param-region': 'eu', 'Mcp-Param-Odd': base64('ä'), 'x-other': 'stays'};
	for (const [name, region, odd] of [
		['modern', 'eu', base64('ä')],
		['legacy', undefined, undefined],
	] as const) {
		const {gateway, upstream, service} = use(name);
		const {length} = upstream.asked('tools/call');
		const reply = await gateway.post(service, call('echo'), {...valid, ...parameters});
		t.is(reply.status, 200);
		const {headers} = await upstream.meets('tools/call', length + 1);
		t.is(headers['mcp-param-region'], region);
		t.is(headers['mcp-param-odd'], odd);
		t.is(headers['x-other'], undefined);
	}
});

const region = {type: 'string', 'x-mcp-header': 'Region'};
const deploy = {name: 'deploy', inputSchema: {type: 'object', properties: {region}}};
const toDeploy = {name: 'deploy', arguments: {region: 'eu'}};
const headersOfDeploy = {...valid, 'mcp-name': 'deploy'};

for (const name of ['modern', 'legacy'] as const)
	test.serial(
		`rejects a parameter header that differs from the message, with a ${name} upstream [C14]`,
		async t => {
			const {gateway, upstream, service} = use(name);
			upstream.tools = [deploy];
			const list = {id: 1, method: 'tools/list', params: {_meta: meta}};
			const listed = await gateway.post(service, list, {
				...valid,
				'mcp-method': 'tools/list',
				'mcp-name': '',
			});
			t.like(messageIn(listed), {result: {tools: [{name: 'deploy'}]}});
			const {executions} = upstream;
			const message = {id: 2, method: 'tools/call', params: {...toDeploy, _meta: meta}};
			for (const wrong of [{}, {'mcp-param-region': 'us'}, {'mcp-param-region': '=?base64?dXM=?='}]) {
				const rejected = await gateway.post(service, message, {...headersOfDeploy, ...wrong});
				t.is(rejected.status, 400);
				t.like(messageIn(rejected), {id: 2, error: {code: -32020}});
			}
			t.is(upstream.executions, executions, 'nothing was sent upstream');
			for (const same of ['eu', base64('eu')])
				t.is(
					(await gateway.post(service, message, {...headersOfDeploy, 'mcp-param-region': same})).status,
					200,
				);
			t.is(upstream.executions, executions + 2);
		},
	);

test.serial(
	'adds parameter headers to requests of a client that does not send them, for a stateless upstream [C14]',
	async t => {
		const {gateway, upstream, service} = use('modern');
		upstream.tools = [deploy];
		const session = await gateway.open(service);
		t.like(await session.request(1, 'tools/list'), {result: {tools: [{name: 'deploy'}]}});
		const {length} = upstream.asked('tools/call');
		for (const place of ['eu', 'ä'])
			await session.request(place, 'tools/call', {name: 'deploy', arguments: {region: place}});
		const regions = upstream
			.asked('tools/call')
			.slice(length)
			.map(({headers}) => headers['mcp-param-region']);
		t.deepEqual(regions, ['eu', base64('ä')]);
	},
);
