import test from 'ava';
import {type ClientSession, messageIn} from '../../helpers/gateway.js';
import {logged} from '../../helpers/program.js';
import type {Met, Mood} from '../../helpers/upstream.js';
import {plain, shareGateway} from './shared-gateway.js';

const use = shareGateway(plain('redirects', 'moved', 'circling'));

const call = (session: ClientSession, id: number) =>
	session.post({id, method: 'tools/call', params: {name: 'echo'}});

/** Handles tool calls with `act`, and everything else as usual. */
const toCalls =
	(act: (met: Met) => unknown): Mood =>
	met => {
		if (met.message.method !== 'tools/call') return false;
		act(met);
		return true;
	};

test('does not follow a redirect to another origin, and reports the origin without the path [A-G6] [D6]', async t => {
	const {gateway, upstream, service} = use('redirects');
	const session = await gateway.open(service, {authorization: 'Bearer canary'});
	const other = `http://localhost:${upstream.port}`;
	for (const [at, status] of [301, 302, 303, 307, 308].entries()) {
		upstream.mood = toCalls(({response}) =>
			response.writeHead(status, {location: `${other}/secret-path?key=canary`}).end(),
		);
		const reply = await call(session, at);
		t.is(reply.status, 502);
		t.like(messageIn(reply), {id: at, error: {code: -31001}});
		t.true(reply.text.includes(`a redirect to ${other};`), reply.text);
		t.false(reply.text.includes('secret-path'));
	}
	t.deepEqual([...new Set(upstream.met.map(({request}) => request.url))], ['/mcp']);
	await gateway.running.says(/"event":"http\.redirected".*"status":308/);
	const entries = logged(gateway.running, 'http.redirected').filter(({server}) => server === service);
	t.like(entries[0], {target: other, status: 301});
	t.false(gateway.running.stderr.includes('secret-path'));
	t.false(gateway.running.stderr.includes('canary'));
});

test('follows 307 and 308 to the same origin with headers and body, for every method [A-G6]', async t => {
	const {gateway, upstream, service} = use('moved');
	upstream.mood = ({request, response}) => {
		if (request.url !== '/mcp') return false;
		response.writeHead(upstream.met.length % 2 === 0 ? 307 : 308, {location: '/mcp/?a=b'}).end('moved');
		return true;
	};
	const session = await gateway.open(service, {authorization: 'Bearer x'});
	t.like(messageIn(await call(session, 1)), {id: 1, result: {content: [{type: 'text'}]}});
	await upstream.becomes(() => upstream.streams[0]);
	await gateway.fetch(`/mcp/${service}`, {method: 'DELETE', headers: session.headers});
	const served = upstream.met.filter(({request}) => request.url === '/mcp/?a=b');
	t.deepEqual(new Set(served.map(({verb}) => verb)), new Set(['POST', 'GET', 'DELETE']));
	for (const {headers} of served) t.is(headers.authorization, 'Bearer x');
	t.is(upstream.executions, 1);
});

test('follows three redirects, and reports the target of a fourth [A-G6]', async t => {
	const {gateway, upstream, service} = use('circling');
	const session = await gateway.open(service);
	const paths: unknown[] = [];
	upstream.mood = toCalls(({request, response}) => {
		paths.push(request.url);
		response.writeHead(307, {location: `/${paths.length}?key=canary`}).end();
	});
	const reply = await call(session, 1);
	t.deepEqual(paths, ['/mcp', '/1?key=canary', '/2?key=canary', '/3?key=canary']);
	t.is(reply.status, 502);
	t.regex(
		reply.text,
		/status 307, a redirect to http:\/\/127\.0\.0\.1:\d+\/4; only 307 and 308 to the same origin/,
	);
	t.false(reply.text.includes('canary'));
});
