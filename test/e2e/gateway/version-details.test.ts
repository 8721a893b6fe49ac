import test from 'ava';
import {opening, runBridge, server} from '../../helpers/bridge.js';
import {messageIn, program, startGateway} from '../../helpers/gateway.js';
import {logged, start, until} from '../../helpers/program.js';
import {plain, shareGateway} from './shared-gateway.js';

const MODERN = '2026-07-28';
const META = 'io.modelcontextprotocol/';
const use = shareGateway(plain('tools', 'unsupported'));

const metaOf = (version: string) => ({
	[`${META}protocolVersion`]: version,
	[`${META}clientInfo`]: {name: 'c', version: '1'},
	[`${META}clientCapabilities`]: {},
});
const headersOf = (version: string) => ({'mcp-protocol-version': version, 'mcp-method': 'tools/list'});

for (const version of ['DRAFT-2026-v1', 'v1', '2026.07.28'])
	test(`treats the version ${version} of an upstream as unknown [A-D16]`, async t => {
		const bridge = start(t, ['--', ...server('speaker', version)]);
		t.like(await bridge.shakeHands(), {result: {protocolVersion: opening.protocolVersion}});
		t.like(await bridge.request(1, 'tools/call', {name: 'say'}), {result: {content: [{type: 'text'}]}});
		await until(() => logged(bridge, 'proxy.version.unknown').length > 0);
		t.like(logged(bridge, 'proxy.version.unknown'), [{answered: version, version: '2025-11-25'}]);
		const gateway = await startGateway(t, {servers: {s: program('speaker', version)}});
		await gateway.open('s');
		const {services} = JSON.parse((await gateway.fetch('/status')).text);
		t.like(services.s, {version: '2025-11-25', answered: version});
	});

test('removes execution from tools for clients of 2026-07-28 [A-D17]', async t => {
	const {gateway, upstream} = use('tools');
	upstream.tools = [
		{name: 'job', inputSchema: {type: 'object'}, execution: {taskSupport: 'optional'}, icons: []},
	];
	const params = {_meta: metaOf(MODERN)};
	const reply = await gateway.post('tools', {id: 1, method: 'tools/list', params}, headersOf(MODERN));
	const {tools} = messageIn(reply).result as {tools: object[]};
	t.deepEqual(tools, [{name: 'job', inputSchema: {type: 'object'}, icons: []}]);
	const session = await gateway.open('tools');
	const own = (await session.request(2, 'tools/list')).result as {tools: object[]};
	t.true('execution' in (own.tools[0] ?? {}), 'other clients receive it');
});

test('-32022 lists the versions that server/discover lists [A-D17]', async t => {
	const {gateway} = use('unsupported');
	const params = {_meta: metaOf('2027-01-01')};
	const message = {id: 1, method: 'tools/list', params};
	const reply = await gateway.post('unsupported', message, headersOf('2027-01-01'));
	t.is(reply.status, 400);
	const data = (messageIn(reply).error as {data: {supported: unknown}}).data;
	t.deepEqual(data, {requested: '2027-01-01', supported: [MODERN]});
	const discover = {id: 2, method: 'server/discover', params: {_meta: metaOf(MODERN)}};
	const headers = {...headersOf(MODERN), 'mcp-method': 'server/discover'};
	const found = messageIn(await gateway.post('unsupported', discover, headers));
	t.like(found, {result: {supportedVersions: data.supported}});
});

test('a filter forwards a valid batch unchanged, and warns about an invalid one [A-D12]', async t => {
	const batch = '[{"jsonrpc":"2.0","id":1.0,"method":"ping"}, {"jsonrpc":"2.0","method":"notifications/x"}]';
	const broken = ['[]', '[1]', '[{"jsonrpc":"2.0","id":1,"method":"ping"},{"id":{}}]'];
	const input = `${[batch, ...broken, '[{"jsonrpc":"2.0","id":1,"result":{}}]'].join('\n')}\n`;
	const {code, stdout, stderr} = await runBridge([], input);
	t.is(code, 0);
	t.deepEqual(stdout, [batch, '[{"jsonrpc":"2.0","id":1,"result":{}}]']);
	t.is(logged({stderr}, 'client.message.refused').length, broken.length);
});
