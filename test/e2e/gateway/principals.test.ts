import test from 'ava';
import {program, type RunningGateway, startGateway} from '../../helpers/gateway.js';
import {startUpstream} from '../../helpers/upstream.js';
import {startReplicas} from '../replicas/support.js';

const tokens = ['first-token-of-two', 'second-token-of-two'];
const [T1 = '', T2 = ''] = tokens;

/** Logs in with this token and returns the cookie. */
async function logIn(gateway: RunningGateway, token: string): Promise<{cookie: string}> {
	const body = new URLSearchParams({token});
	const {headers} = await gateway.fetch('/', {method: 'POST', body, redirect: 'manual'});
	return {cookie: headers.get('set-cookie')?.split(';', 1)[0] ?? ''};
}

const pid = {id: 1, method: 'pid'};

test('separates the sessions of browsers that logged in with different tokens [SEC-D10]', async t => {
	const gateway = await startGateway(t, {tokens, servers: {puppet: program('puppet')}});
	const [one, two] = [await logIn(gateway, T1), await logIn(gateway, T2)];
	const session = await gateway.open('puppet', one);
	t.is((await gateway.post('puppet', pid, {...session.headers, ...two})).status, 404);
	t.is((await gateway.post('puppet', pid, two)).status, 400, 'the session is not found without an id either');
	for (const method of ['GET', 'DELETE']) {
		const headers = {accept: 'text/event-stream', ...session.headers, ...two};
		t.is((await gateway.fetch('/mcp/puppet', {method, headers})).status, 404, method);
	}
	t.is((await session.post(pid)).status, 200);
	t.is((await gateway.post('puppet', pid, one)).status, 200);
});

test('treats a cookie and a header of the same token as one principal [SEC-D10]', async t => {
	const gateway = await startGateway(t, {tokens, servers: {puppet: program('puppet')}});
	const session = await gateway.open('puppet', await logIn(gateway, T1));
	const id = session.headers['mcp-session-id'] ?? '';
	const status = async (headers: {[name: string]: string}): Promise<number> =>
		(await gateway.post('puppet', pid, {...headers, 'mcp-session-id': id})).status;
	t.is(await status({'x-bridge-token': T1}), 200);
	t.is(await status({'x-bridge-token': T2}), 404);
	t.is(
		await status({'x-bridge-token': T2, ...(await logIn(gateway, T1))}),
		404,
		'a valid header takes precedence',
	);
	t.is(await status({'x-bridge-token': 'no token at all', ...(await logIn(gateway, T1))}), 200);
});

test('/mcp treats a bearer token and a cookie of the same token as one principal [SEC-D10]', async t => {
	const gateway = await startGateway(t, {tokens, servers: {puppet: program('puppet')}});
	const session = await gateway.open('', {authorization: `Bearer ${T1}`});
	const id = {'mcp-session-id': session.headers['mcp-session-id'] ?? ''};
	const ping = {id: 1, method: 'ping'};
	t.is((await gateway.post('', ping, {...id, ...(await logIn(gateway, T1))})).status, 200);
	t.is((await gateway.post('', ping, {...id, ...(await logIn(gateway, T2))})).status, 404);
	t.is((await gateway.post('', ping, {...id, authorization: `Bearer ${T2}`})).status, 404);
});

test('replicas separate the sessions of browsers that logged in with different tokens [SEC-D10]', async t => {
	const upstream = await startUpstream(t);
	const servers = {echo: {url: upstream.url}, puppet: program('puppet')};
	const [one, two] = await startReplicas(t, 2, {tokens, servers});
	if (!one || !two) throw new Error('There are two.');
	const [own, other] = [await logIn(one, T1), await logIn(one, T2)];
	const ping = {id: 1, method: 'ping'};
	for (const service of ['echo', 'puppet']) {
		const {headers} = await one.open(service, own);
		for (const gateway of [one, two]) {
			t.is((await gateway.post(service, ping, headers)).status, 200, `${service} at either replica`);
			t.is((await gateway.post(service, ping, {...headers, ...other})).status, 404);
			t.is((await gateway.post(service, ping, other)).status, 400);
		}
	}
});
