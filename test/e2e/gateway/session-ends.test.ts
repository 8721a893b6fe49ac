import test from 'ava';
import {listen} from '../../helpers/event-source.js';
import {startGateway} from '../../helpers/gateway.js';
import {peakMiB} from '../../helpers/program.js';
import {startUpstream} from '../../helpers/upstream.js';
import {plain, shareGateway} from './shared-gateway.js';

const LIMIT = 50;
const use = shareGateway(plain('streams', 'flood', 'deleted', 'kept', 'mute'), {limits: {sessions: LIMIT}});
const alice = {authorization: 'Bearer alice'};
const bob = {authorization: 'Bearer bob'};
const notice = (at: number) => ({method: 'notifications/message', params: {level: 'info', data: at}});

test.serial(
	'a second stream does not affect the first, and each message is sent on one of them [C8]',
	async t => {
		const {gateway, upstream, service} = use('streams');
		const {headers} = await gateway.open(service, alice);
		await upstream.meets('GET');
		const first = await listen(gateway, service, headers);
		const second = await listen(gateway, service, headers);
		t.is((await listen(gateway, service, {...headers, ...bob})).response.status, 404);
		for (let at = 0; at < 10; at++) upstream.say(notice(at));
		const received: unknown[] = [];
		while (received.length < 10) received.push((await first.message()).params);
		t.deepEqual(
			received,
			Array.from({length: 10}, (_, at) => notice(at).params),
		);
		await first.stop();
		// bridge notices the closed stream after a delay. It keeps messages until then for a resumed stream.
		let next = 10;
		const timer = setInterval(() => upstream.say(notice(next++)), 20);
		const {params} = await second.message();
		clearInterval(timer);
		t.true((params as {data: number}).data >= 10, 'messages of the first stream are not repeated');
		await second.stop();
	},
);

test.serial('evicts the session that was idle longest at the limit, with bounded memory [C9]', async t => {
	const {gateway, upstream, service} = use('flood');
	const first = await gateway.open(service);
	for (let at = 0; at < LIMIT; at++) await gateway.open(service);
	t.is((await first.post({id: 1, method: 'ping'})).status, 404);
	const before = peakMiB(gateway.running.pid);
	for (let at = 0; at < 16; at++) await Promise.all(Array.from({length: 25}, () => gateway.open(service)));
	t.true(JSON.parse((await gateway.fetch('/status')).text).sessions <= LIMIT);
	t.true(peakMiB(gateway.running.pid) < before + 100, '400 evicted sessions use little memory');
	await upstream.becomes(() => (upstream.sessions.size <= LIMIT ? true : undefined));
	t.is((await gateway.open(service)).headers['mcp-session-id']?.length, 32, 'new sessions are accepted');
});

test.serial('ends an idle session after the limit, unless it has an open stream [C9]', async t => {
	const upstream = await startUpstream(t);
	const servers = {quiet: {url: upstream.url}};
	const gateway = await startGateway(t, {servers, limits: {idle: '5s'}});
	const listening = await gateway.open('quiet');
	const events = await listen(gateway, 'quiet', listening.headers);
	const silent = await gateway.open('quiet');
	await upstream.meets('DELETE');
	t.is((await silent.post({id: 1, method: 'ping'})).status, 404);
	t.is((await listening.post({id: 1, method: 'ping'})).status, 200);
	await events.stop();
});

test.serial('DELETE ends the session of the client and of the upstream [C10]', async t => {
	const {gateway, upstream, service} = use('deleted');
	const {headers} = await gateway.open(service);
	const [upstreamId] = upstream.sessions;
	t.is((await gateway.fetch(`/mcp/${service}`, {method: 'DELETE', headers})).status, 200);
	t.is(upstream.asked('DELETE')[0]?.headers['mcp-session-id'], upstreamId);
	t.is((await gateway.post(service, {id: 1, method: 'ping'}, headers)).status, 404);
	t.is((await gateway.fetch(`/mcp/${service}`, {method: 'DELETE', headers})).status, 404);
});

test.serial(
	'ends its own session and forwards 405 when the upstream does not support DELETE [C10]',
	async t => {
		const {gateway, upstream, service} = use('kept');
		upstream.mood = ({verb, response}) => {
			if (verb === 'DELETE') response.writeHead(405, {allow: 'GET, POST'}).end();
			return verb === 'DELETE';
		};
		const {headers} = await gateway.open(service);
		t.is((await gateway.fetch(`/mcp/${service}`, {method: 'DELETE', headers})).status, 405);
		t.is((await gateway.post(service, {id: 1, method: 'ping'}, headers)).status, 404);
	},
);

test.serial('does not wait for an upstream that never replies to DELETE [C10]', async t => {
	const {gateway, upstream, service} = use('mute');
	upstream.mood = ({verb}) => verb === 'DELETE';
	const {headers} = await gateway.open(service);
	t.is((await gateway.fetch(`/mcp/${service}`, {method: 'DELETE', headers})).status, 200);
});
