import test from 'ava';
import {roam, startReplicas} from '../e2e/replicas/support.js';
import {until} from '../helpers/program.js';
import {startUpstream} from '../helpers/upstream.js';
import {startRedis} from './redis.js';

const call = {id: 9, method: 'tools/call', params: {name: 'echo', arguments: {}}};

test('ends sessions and logins at all replicas that share a store [SEC-D22] [SEC-D21]', async t => {
	const redis = await startRedis(t);
	const upstream = await startUpstream(t);
	upstream.hasSessions = false;
	const token = 'a-token-of-sixteen-characters';
	const config = {
		servers: {echo: {url: upstream.url}},
		tokens: [token],
		store: `redis://127.0.0.1:${redis.port}/0`,
	};
	const [one, two, three] = await startReplicas(t, 3, config);
	if (!one || !two || !three) throw new Error('There are three.');
	const own = {'x-bridge-token': token};
	for (const gateway of [one, two, three])
		await until(async () => /"ready"/.test((await gateway.fetch('/readyz', {headers: own})).text));
	const client = await roam(one, 'echo', own);
	t.is((await client.post(two, call)).status, 200);
	await one.fetch('/mcp/echo', {method: 'DELETE', headers: client.headers});
	await until(async () => (await client.post(two, call)).status === 404);
	// A replica that gets no timely reply from the store resumes the session, so each attempt uses a new
	// one.
	await until(async () => {
		const another = await roam(one, 'echo', own);
		await one.fetch('/mcp/echo', {method: 'DELETE', headers: another.headers});
		return (await another.post(three, call)).status === 404;
	});
	const body = new URLSearchParams({token});
	const {headers} = await fetch(one.base, {method: 'POST', body, redirect: 'manual'});
	const cookie = headers.get('set-cookie')?.split(';', 1)[0] ?? '';
	t.is((await two.fetch('/status', {headers: {cookie}})).status, 200);
	await fetch(new URL('/logout', one.base), {method: 'POST', headers: {cookie}, redirect: 'manual'});
	for (const gateway of [one, two, three])
		await until(async () => (await gateway.fetch('/status', {headers: {cookie}})).status === 401);
	const names = await redis.cli(['keys', '*']);
	t.regex(names, /bridge:ended:/);
	t.false(names.includes(cookie));
});
