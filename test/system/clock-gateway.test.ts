import test, {type ExecutionContext} from 'ava';
import {messageIn, type RunningGateway, startGateway} from '../helpers/gateway.js';
import {logged, until} from '../helpers/program.js';
import {startUpstream} from '../helpers/upstream.js';
import {dayOf, fakeClock} from './fake-clock.js';
import {echoServer} from './tools.js';

const [command, ...args] = echoServer;

/** Starts a gateway whose wall clock the test sets. */
async function startAt(t: ExecutionContext, config: {readonly [key: string]: unknown}) {
	const {env, setClock} = fakeClock(t);
	const gateway = await startGateway(t, config, {env});
	const isDay = (days: number): boolean =>
		[days, days - 1 / 24]
			.map(dayOf)
			.includes(String(logged(gateway.running, 'session.unknown').at(-1)?.time).slice(0, 10));
	/** Sets the clock, and waits for a log line of the gateway with that date. */
	const jump = async (days: number): Promise<void> => {
		setClock(days);
		const [service] = Object.keys(config.servers as object);
		await gateway.post(service ?? '', {id: 1, method: 'ping'}, {'mcp-session-id': 'unknown'});
		await until(() => isDay(days));
	};
	return {gateway, jump};
}

const servers = {echo: {command, args, timeout: 50}};
const sessionsOf = async (gateway: RunningGateway): Promise<unknown> =>
	JSON.parse((await gateway.fetch('/status')).text).sessions;

test.serial('clock changes do not expire calls and sessions of a gateway [L5]', async t => {
	const {gateway, jump} = await startAt(t, {servers, limits: {idle: '60s'}});
	const session = await gateway.open('echo');
	const pending = session.request('held', 'hold');
	for (const days of [1, -1, 400, -400, 0]) await jump(days);
	t.is(await sessionsOf(gateway), 1);
	await session.post({method: 'release'});
	t.like(await pending, {id: 'held', result: {}});
	t.like(await session.request(1, 'echo', {a: 1}), {result: {a: 1}});
});

test.serial('calls and sessions of a gateway expire on time after its clock is set back [L5]', async t => {
	const {gateway, jump} = await startAt(t, {
		servers: {echo: {command, args, timeout: 2}},
		limits: {idle: '3s'},
	});
	const session = await gateway.open('echo');
	const pending = session.post({id: 'held', method: 'hold'});
	await jump(-1);
	const late = await pending;
	t.is(late.status, 504);
	t.like(messageIn(late), {id: 'held', error: {code: -31_002}});
	await until(() => logged(gateway.running, 'session.idle').length === 1);
	t.is(await sessionsOf(gateway), 0);
});

test.serial('clock changes do not affect the time that a cached list is valid [L5]', async t => {
	const upstream = await startUpstream(t, met => {
		if (met.message.method !== 'tools/list') return false;
		const result = {resultType: 'complete', tools: upstream.tools, ttlMs: 600_000, cacheScope: 'private'};
		met.response.writeHead(200, {'content-type': 'application/json'});
		met.response.end(JSON.stringify({jsonrpc: '2.0', id: met.message.id, result}));
		return true;
	});
	const cached = {url: upstream.url, targetVersion: '2026-07-28', cacheTools: true};
	const {gateway, jump} = await startAt(t, {servers: {cached}});
	const session = await gateway.open('cached');
	await session.request(1, 'tools/list');
	const {length} = upstream.asked('tools/list');
	for (const days of [1, -1]) {
		await jump(days);
		await session.request(days, 'tools/list');
	}
	t.is(upstream.asked('tools/list').length, length);
});
