import {spawnSync} from 'node:child_process';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {isJsonMembers, parseJsonSource} from '../../lib/view/page/json.js';
import {curlScript} from '../../lib/view/page/shell-scripts.js';
import type {LineDetail, ListedRow, ListedRows} from '../../lib/view/page/types.js';
import type {Message} from '../helpers/bridge.js';
import {program, type RunningGateway, startGateway} from '../helpers/gateway.js';
import {until} from '../helpers/program.js';
import {need} from './tools.js';

/* The script that the page copies, run by curl against the gateway that recorded it. */

const META = 'io.modelcontextprotocol/';

/** Opens the event stream of a gateway's page, so that it records. Resolves when it does. */
async function watch(t: ExecutionContext, gateway: RunningGateway, headers: Record<string, string>) {
	const stop = new AbortController();
	t.teardown(() => stop.abort());
	const response = await fetch(new URL('/view/events', gateway.base), {signal: stop.signal, headers});
	await response.body?.getReader().read();
}

/** The script for the first recorded request with this method. */
async function scriptOf(gateway: RunningGateway, method: string, headers: Record<string, string>) {
	const query = `/view/rows?count=10&from=0&method=${encodeURIComponent(method)}`;
	const rows = async (): Promise<readonly ListedRow[]> =>
		(JSON.parse((await gateway.fetch(query, {headers})).text) as ListedRows).rows;
	await until(async () => (await rows()).length > 0);
	const [row] = (await rows()) as [ListedRow];
	const {text} = JSON.parse((await gateway.fetch(`/view/line?row=${row.row}`, {headers})).text) as LineDetail;
	const line = parseJsonSource(text);
	const message = isJsonMembers(line) ? line.message : undefined;
	return curlScript({message, server: row.server, version: row.version}, gateway.base.origin);
}

/** Runs a script, and resolves to the message in its output, which is JSON or an event. */
function run(script: string, env: NodeJS.ProcessEnv = process.env): Message {
	need('curl');
	const {stdout, stderr} = spawnSync('sh', ['-s'], {encoding: 'utf8', input: script, env});
	const text = /^(?:data: ?)?(\{.*)$/m.exec(stdout)?.[1];
	if (text === undefined) throw new Error(`No message: ${stdout} ${stderr}`);
	return JSON.parse(text);
}

const call = {name: 'say', arguments: {text: "it's ünusual"}};

for (const version of ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'])
	test.serial(`a copied script sends a ${version} call with its handshake [U-P1-5]`, async t => {
		const gateway = await startGateway(t, {servers: {s: program('speaker', version)}});
		await watch(t, gateway, {});
		const params = {protocolVersion: version, capabilities: {}, clientInfo: {name: 'c', version: '1'}};
		const opened = await gateway.post('s', {id: 0, method: 'initialize', params});
		const headers = {'mcp-session-id': opened.headers.get('mcp-session-id') ?? ''};
		await gateway.post('s', {method: 'notifications/initialized'}, headers);
		await gateway.post('s', {id: 7, method: 'tools/call', params: call}, headers);
		const response = run(await scriptOf(gateway, 'tools/call', {}));
		t.like(response, {id: 7, result: {content: [{type: 'text', text: JSON.stringify(call)}]}});
		t.like(run(await scriptOf(gateway, 'initialize', {})), {id: 0, result: {protocolVersion: version}});
		const {sessions} = JSON.parse((await gateway.fetch('/status')).text);
		t.is(sessions, 2, 'its session has ended; that of the copied initialize and the first one have not');
	});

test.serial('a copied script sends a stateless call with its required headers [U-P1-5]', async t => {
	const gateway = await startGateway(t, {servers: {s: program('speaker', '2025-11-25')}});
	await watch(t, gateway, {});
	const _meta = {
		[`${META}protocolVersion`]: '2026-07-28',
		[`${META}clientInfo`]: {name: 'c', version: '1'},
		[`${META}clientCapabilities`]: {},
	};
	const headers = {
		'mcp-protocol-version': '2026-07-28',
		'mcp-method': 'tools/call',
		'mcp-name': 'say',
	};
	await gateway.post('s', {id: 7, method: 'tools/call', params: {...call, _meta}}, headers);
	t.like(run(await scriptOf(gateway, 'tools/call', {})), {result: {content: [{type: 'text'}]}});
});

test.serial('a copied script for the hub uses /mcp, and a token from the environment [U-P1-5]', async t => {
	const token = 'a-token-of-a-test-gateway';
	const config = {tokens: [token], expose: 'tools', servers: {s: program('speaker', '2025-11-25')}};
	const gateway = await startGateway(t, config);
	const credentials = {'x-bridge-token': token};
	await watch(t, gateway, credentials);
	const session = await gateway.open('', credentials);
	await session.request(7, 'tools/call', {...call, name: 's__say'});
	const script = await scriptOf(gateway, 'tools/call', credentials);
	t.regex(script, /^url='http:\/\/[^']+\/mcp'$/m);
	t.false(script.includes(token));
	t.like(run(script, {...process.env, BRIDGE_TOKEN: token}), {id: 7, result: {content: [{type: 'text'}]}});
});
