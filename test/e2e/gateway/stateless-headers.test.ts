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
const right = {'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'echo'};

for (const [what, headers] of [
	['another method', {...right, 'mcp-method': 'tools/list'}],
	['another case of the method', {...right, 'mcp-method': 'Tools/Call'}],
	['no method', {'mcp-protocol-version': MODERN, 'mcp-name': 'echo'}],
	['another name', {...right, 'mcp-name': 'other'}],
	['another name in base64', {...right, 'mcp-name': base64('other')}],
	['broken base64', {...right, 'mcp-name': '=?base64?%%%?='}],
	['no name', {'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call'}],
	['another version', {...right, 'mcp-protocol-version': '2025-11-25'}],
] as const)
	test(`${what} in the headers than in the message is refused with 400 and -32020 [C14]`, async t => {
		const {gateway, upstream, service} = use('legacy');
		const answer = await gateway.post(service, call('echo', 5), headers);
		t.is(answer.status, 400);
		t.like(messageIn(answer), {id: 5, error: {code: -32020}});
		t.is(upstream.asked('tools/call').filter(({message}) => message.id === 5).length, 0);
	});

test('a name that cannot stand in a header is compared as what it stands for [C14]', async t => {
	const {gateway, service} = use('legacy');
	for (const name of ['ünïcode', ' spaced ', 'two\nlines', '=?base64?eA==?=', 'plain']) {
		const answer = await gateway.post(service, call(name), {...right, 'mcp-name': base64(name)});
		t.is(answer.status, 200, name);
		t.like(messageIn(answer), {id: 1, result: {content: [{type: 'text'}]}});
	}
});

test('what a header of a parameter says goes on to a server that has them, and to no other [C14]', async t => {
	const parameters = {'mcp-param-region': 'eu', 'Mcp-Param-Odd': base64('ä'), 'x-other': 'stays'};
	for (const [name, region, odd] of [
		['modern', 'eu', base64('ä')],
		['legacy', undefined, undefined],
	] as const) {
		const {gateway, upstream, service} = use(name);
		const {length} = upstream.asked('tools/call');
		const answer = await gateway.post(service, call('echo'), {...right, ...parameters});
		t.is(answer.status, 200);
		const {headers} = await upstream.meets('tools/call', length + 1);
		t.is(headers['mcp-param-region'], region);
		t.is(headers['mcp-param-odd'], odd);
		t.is(headers['x-other'], undefined);
	}
});

const region = {type: 'string', 'x-mcp-header': 'Region'};
const deploy = {name: 'deploy', inputSchema: {type: 'object', properties: {region}}};
const toDeploy = {name: 'deploy', arguments: {region: 'eu'}};
const headersOfDeploy = {...right, 'mcp-name': 'deploy'};

for (const name of ['modern', 'legacy'] as const)
	test.serial(
		`a header that says another parameter than the message is refused, for a ${name} server [C14]`,
		async t => {
			const {gateway, upstream, service} = use(name);
			upstream.tools = [deploy];
			const list = {id: 1, method: 'tools/list', params: {_meta: meta}};
			const listed = await gateway.post(service, list, {
				...right,
				'mcp-method': 'tools/list',
				'mcp-name': '',
			});
			t.like(messageIn(listed), {result: {tools: [{name: 'deploy'}]}});
			const {executions} = upstream;
			const message = {id: 2, method: 'tools/call', params: {...toDeploy, _meta: meta}};
			for (const wrong of [{}, {'mcp-param-region': 'us'}, {'mcp-param-region': '=?base64?dXM=?='}]) {
				const refused = await gateway.post(service, message, {...headersOfDeploy, ...wrong});
				t.is(refused.status, 400);
				t.like(messageIn(refused), {id: 2, error: {code: -32020}});
			}
			t.is(upstream.executions, executions, 'the server was not even asked');
			for (const same of ['eu', base64('eu')])
				t.is(
					(await gateway.post(service, message, {...headersOfDeploy, 'mcp-param-region': same})).status,
					200,
				);
			t.is(upstream.executions, executions + 2);
		},
	);

test.serial(
	'a modern server that wants parameters in headers gets them of a client that knows none [C14]',
	async t => {
		const {gateway, upstream, service} = use('modern');
		upstream.tools = [deploy];
		const session = await gateway.open(service);
		t.like(await session.request(1, 'tools/list'), {result: {tools: [{name: 'deploy'}]}});
		const {length} = upstream.asked('tools/call');
		for (const place of ['eu', 'ä'])
			await session.request(place, 'tools/call', {name: 'deploy', arguments: {region: place}});
		const told = upstream
			.asked('tools/call')
			.slice(length)
			.map(({headers}) => headers['mcp-param-region']);
		t.deepEqual(told, ['eu', base64('ä')]);
	},
);
