import test from 'ava';
import {WebSocket} from 'ws';
import {opening} from '../../helpers/bridge.js';
import {EventSource} from '../../helpers/event-source.js';
import {messageIn, program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {newMarker} from '../../helpers/program.js';

const accept = 'application/json, text/event-stream';
const json = {'content-type': 'application/json', accept};
const initialize = JSON.stringify({jsonrpc: '2.0', id: 'i', method: 'initialize', params: opening});

/** Runs a handshake, a request, a stream and the end of a session at this path. */
async function runSession(gateway: RunningGateway, path: string) {
	const opened = await gateway.fetch(path, {method: 'POST', headers: json, body: initialize});
	const headers = {...json, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? ''};
	const body = JSON.stringify({jsonrpc: '2.0', method: 'notifications/initialized'});
	await gateway.fetch(path, {method: 'POST', headers, body});
	const call = JSON.stringify({jsonrpc: '2.0', id: 1, method: 'echo', params: {path}});
	const reply = messageIn(await gateway.fetch(path, {method: 'POST', headers, body: call}));
	const stream = await fetch(new URL(path, gateway.base), {
		headers: {...headers, accept: 'text/event-stream'},
	});
	await stream.body?.cancel();
	const {status: ended} = await gateway.fetch(path, {method: 'DELETE', headers});
	return {reply, statuses: [opened.status, stream.status, ended]};
}

/** Reads a stream until it contains this text. */
async function readUntil(events: EventSource, text: string): Promise<void> {
	while (!events.text.includes(text))
		if (!(await events.more())) throw new Error(`The stream ended: ${events.response.status} ${events.text}`);
}

for (const [path, id] of [
	['/mcp/puppet/', 'A-G6'],
	['/puppet/mcp', 'U-P1-8'],
	['/puppet/mcp/', 'U-P1-8'],
] as const) {
	test(`${path} serves streamable HTTP of the service [${id}]`, async t => {
		const gateway = await startGateway(t, {servers: {puppet: program('puppet', newMarker(t))}});
		const {reply, statuses} = await runSession(gateway, path);
		t.deepEqual(statuses, [200, 200, 200]);
		t.like(reply, {id: 1, result: {path}});
	});

	test(`${path} serves HTTP+SSE and WebSocket of the service [${id}]`, async t => {
		const gateway = await startGateway(t, {servers: {puppet: program('puppet', newMarker(t))}});
		const response = await fetch(new URL(`${path.replace(/\/$/, '')}/sse`, gateway.base), {
			headers: {accept: 'text/event-stream'},
		});
		const events = new EventSource(response);
		await readUntil(events, '\n\n');
		const address = /data: (\S+)/.exec(events.text)?.[1] ?? '';
		t.is((await gateway.fetch(address, {method: 'POST', headers: json, body: initialize})).status, 202);
		await readUntil(events, '"id":"i"');
		await events.stop();
		const socket = new WebSocket(new URL(path, gateway.base.href.replace('http', 'ws')), 'mcp');
		const received = await new Promise<string>((resolve, reject) => {
			socket.on('error', reject).on('open', () => socket.send(initialize));
			socket.on('message', data => resolve(String(data)));
		});
		socket.terminate();
		t.like(JSON.parse(received), {id: 'i', result: {protocolVersion: opening.protocolVersion}});
	});
}

test('/mcp/ is the same as /mcp [A-G6]', async t => {
	const gateway = await startGateway(t, {
		expose: 'tools',
		servers: {puppet: program('puppet', newMarker(t))},
	});
	const opened = await gateway.fetch('/mcp/', {method: 'POST', headers: json, body: initialize});
	t.is(opened.status, 200);
	t.like(messageIn(opened), {result: {serverInfo: {name: 'bridge-hub'}}});
});

test('an unknown service is a 404 with the known names at both paths [U-P1-8]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet', newMarker(t))}});
	for (const path of ['/other/mcp', '/mcp/other/']) {
		const reply = await gateway.fetch(path, {method: 'POST', headers: json, body: initialize});
		t.is(reply.status, 404);
		t.like(messageIn(reply), {error: {data: {services: ['puppet']}}});
	}
	t.is((await gateway.fetch('/healthz')).status, 200);
	t.is((await gateway.fetch('/status')).status, 200);
});

test('a path below /mcp that is not a valid service name is a 404 with the known names [A-G4] [A-G6]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet', newMarker(t))}});
	for (const path of ['/mcp/Puppet', '/mcp/my.server', '/mcp/puppet//', '/mcp/__proto__']) {
		const reply = await gateway.fetch(path, {method: 'POST', headers: json, body: initialize});
		t.is(reply.status, 404);
		t.like(messageIn(reply), {error: {data: {services: ['puppet']}}}, path);
	}
});

test('a browser page cannot load an alias as an image or a script [U-P1-8]', async t => {
	const gateway = await startGateway(t, {servers: {puppet: program('puppet', newMarker(t))}});
	for (const path of ['/mcp/puppet', '/puppet/mcp', '/puppet/mcp/', '/puppet/mcp/sse?x=1']) {
		const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nConnection: close\r\n\r\n`;
		t.regex(await gateway.raw(request), /^HTTP\/1\.1 403 /, path);
	}
});
