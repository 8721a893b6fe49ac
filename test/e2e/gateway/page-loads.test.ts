import {once} from 'node:events';
import test, {type ExecutionContext} from 'ava';
import {WebSocket} from 'ws';
import {handshake} from '../../helpers/bridge.js';
import {program, type RunningGateway, shareGateway, startGateway} from '../../helpers/gateway.js';
import {logged, newMarker, processesWith, until} from '../../helpers/program.js';
import {post, request, sessionsOf, statusOf} from '../../helpers/raw-requests.js';

const shared = shareGateway({servers: {puppet: program('puppet')}});

const paths = ['/mcp', '/mcp/sse', '/mcp/puppet', '/mcp/puppet/sse', '/mcp/puppet/message', '/mcp/nothing'];
const image = 'Accept: image/avif,image/webp,*/*;q=0.8';
const events = 'Accept: text/event-stream';

/** Sec-Fetch headers of browsers for page loads without an Origin. */
const loads = [
	['an image of a page of another site', 'cross-site', 'no-cors'],
	['an image of a page of a sibling site', 'same-site', 'no-cors'],
	['an image of its own page', 'same-origin', 'no-cors'],
	['a link on a page of another site', 'cross-site', 'navigate'],
	['a URL that a user typed', 'none', 'navigate'],
	['a request of a page of another site', 'cross-site', 'cors'],
	['a request of a page of a sibling site', 'same-site', 'cors'],
] as const;

for (const [name, site, mode] of loads)
	test(`rejects ${name} below /mcp [SEC-D8]`, async t => {
		const headers = [`Sec-Fetch-Site: ${site}`, `Sec-Fetch-Mode: ${mode}`];
		for (const path of paths)
			for (const accept of [image, events])
				t.is(statusOf(await shared().raw(request(`GET ${path}`, [...headers, accept]))), 403, path);
		t.is(statusOf(await shared().raw(post(headers))), 403);
		t.is(statusOf(await shared().raw(request('GET /status', headers))), 200);
		t.is(await sessionsOf(shared(), 'puppet'), 0);
	});

test('logs a rejected page load [SEC-D8]', async t => {
	const headers = ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors', 'Host: 127.3.2.1'];
	await shared().raw(request('GET /mcp/puppet/sse', headers, '', ''));
	const isLogged = (): boolean =>
		logged(shared().running, 'http.origin_rejected').some(({host}) => host === '127.3.2.1');
	await t.notThrowsAsync(until(isLogged));
});

test('checks only the Origin of a request that has one [SEC-D8]', async t => {
	const gateway = await startGateway(t, {
		servers: {puppet: program('puppet')},
		origins: ['https://app.example.com'],
	});
	for (const origin of ['https://app.example.com', 'http://localhost:3000'])
		for (const [, site, mode] of loads) {
			const headers = [`Origin: ${origin}`, `Sec-Fetch-Site: ${site}`, `Sec-Fetch-Mode: ${mode}`];
			t.is(statusOf(await gateway.raw(post(headers))), 200, `${origin} ${site} ${mode}`);
		}
	const own = ['Origin: https://evil.example', 'Sec-Fetch-Site: same-origin', 'Sec-Fetch-Mode: cors'];
	t.is(statusOf(await gateway.raw(post(own))), 403);
});

for (const [site, mode] of [
	['same-origin', 'cors'],
	['none', 'cors'],
	[undefined, 'cors'],
])
	test(`accepts a request without an Origin of site ${site} and mode ${mode} [SEC-D8]`, async t => {
		const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
		const headers = [...(site ? [`Sec-Fetch-Site: ${site}`] : []), `Sec-Fetch-Mode: ${mode}`];
		t.is(statusOf(await gateway.raw(post(headers))), 200);
	});

for (const accept of [
	undefined,
	'*/*',
	'text/*',
	'image/avif,*/*;q=0.8',
	'text/event-streams',
	'application/json',
])
	test(`a GET with Accept: ${accept} opens no stream [SEC-D8]`, async t => {
		const gateway = await startGateway(t, {servers: {puppet: program('puppet')}});
		const {headers: own} = await gateway.open('puppet');
		const headers = accept === undefined ? [] : [`Accept: ${accept}`];
		const session = `Mcp-Session-Id: ${own['mcp-session-id']}`;
		for (const path of ['/mcp/puppet/sse', '/mcp/sse', '/traffic'])
			t.is(statusOf(await gateway.raw(request(`GET ${path}`, headers))), 406, path);
		t.is(statusOf(await gateway.raw(request('GET /mcp/puppet', [...headers, session]))), 406);
		t.is(await sessionsOf(gateway, 'puppet'), 1);
	});

/** A gateway whose child has a marker on its command line. */
async function startMarked(t: ExecutionContext): Promise<{gateway: RunningGateway; marker: string}> {
	const marker = newMarker(t);
	return {gateway: await startGateway(t, {servers: {puppet: program('puppet', marker)}}), marker};
}

test('an SSE connection gets its endpoint immediately, and the child starts with the first message [SEC-D8]', async t => {
	const {gateway, marker} = await startMarked(t);
	const stop = new AbortController();
	t.teardown(() => stop.abort());
	const {body} = await fetch(new URL('/mcp/puppet/sse', gateway.base), {
		headers: {accept: 'Text/Event-Stream;q=0.9, */*'},
		signal: stop.signal,
	});
	const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
	let text = '';
	const has = async (part: RegExp): Promise<string> => {
		while (!part.test(text)) text += (await reader?.read())?.value;
		return part.exec(text)?.[1] ?? '';
	};
	const endpoint = await has(/event: endpoint\ndata: (\S+)\n/);
	t.is(await sessionsOf(gateway, 'puppet'), 1);
	t.deepEqual(processesWith(marker), []);
	const init = {method: 'POST', headers: {'content-type': 'application/json'}, body: handshake[0]};
	t.is((await gateway.fetch(endpoint, init)).status, 202);
	t.like(JSON.parse(await has(/event: message\ndata: (.*)\n/)), {
		id: 'first',
		result: {serverInfo: {name: 'puppet'}},
	});
	t.is(processesWith(marker).length, 1);
});

test('a WebSocket starts its child with the first message, which is not lost [SEC-D8]', async t => {
	const {gateway, marker} = await startMarked(t);
	const open = async (): Promise<WebSocket> => {
		const socket = new WebSocket(new URL('/mcp/puppet', gateway.base.href.replace('http', 'ws')), 'mcp');
		t.teardown(() => socket.terminate());
		await once(socket, 'open');
		await until(async () => (await sessionsOf(gateway, 'puppet')) > 0);
		return socket;
	};
	const silent = await open();
	t.deepEqual(processesWith(marker), []);
	silent.terminate();
	await until(async () => (await sessionsOf(gateway, 'puppet')) === 0);
	const socket = await open();
	for (const line of handshake) socket.send(line);
	const [message] = await once(socket, 'message');
	t.like(JSON.parse(String(message)), {id: 'first', result: {serverInfo: {name: 'puppet'}}});
	t.is(processesWith(marker).length, 1);
	socket.close();
	await until(() => processesWith(marker).length === 0);
});
