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
	'a second stream leaves the first alone, is its own caller’s, and each message is on one [C8]',
	async t => {
		const {gateway, upstream, service} = use('streams');
		const {headers} = await gateway.open(service, alice);
		await upstream.meets('GET');
		const first = await listen(gateway, service, headers);
		const second = await listen(gateway, service, headers);
		t.is((await listen(gateway, service, {...headers, ...bob})).response.status, 404);
		for (let at = 0; at < 10; at++) upstream.say(notice(at));
		const heard: unknown[] = [];
		while (heard.length < 10) heard.push((await first.message()).params);
		t.deepEqual(
			heard,
			Array.from({length: 10}, (_, at) => notice(at).params),
		);
		await first.stop();
		// It takes a while until bridge sees that the first is gone; what is said by then waits for it to come back.
		let next = 10;
		const talk = setInterval(() => upstream.say(notice(next++)), 20);
		const {params} = await second.message();
		clearInterval(talk);
		t.true((params as {data: number}).data >= 10, 'nothing of what the first heard');
		await second.stop();
	},
);

test.serial(
	'sessions over the limit end the one that was silent longest, and memory is bounded [C9]',
	async t => {
		const {gateway, upstream, service} = use('flood');
		const first = await gateway.open(service);
		for (let at = 0; at < LIMIT; at++) await gateway.open(service);
		t.is((await first.post({id: 1, method: 'ping'})).status, 404);
		const before = peakMiB(gateway.running.pid);
		for (let at = 0; at < 16; at++) await Promise.all(Array.from({length: 25}, () => gateway.open(service)));
		t.true(JSON.parse((await gateway.fetch('/status')).text).sessions <= LIMIT);
		t.true(peakMiB(gateway.running.pid) < before + 100, 'four hundred sessions leave next to nothing');
		await upstream.becomes(() => (upstream.sessions.size <= LIMIT ? true : undefined));
		t.is((await gateway.open(service)).headers['mcp-session-id']?.length, 32, 'and it goes on');
	},
);

test.serial('a session that is silent for too long ends, unless somebody listens [C9]', async t => {
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

test.serial('DELETE ends the session here and upstream [C10]', async t => {
	const {gateway, upstream, service} = use('deleted');
	const {headers} = await gateway.open(service);
	const [known] = upstream.sessions;
	t.is((await gateway.fetch(`/mcp/${service}`, {method: 'DELETE', headers})).status, 200);
	t.is(upstream.asked('DELETE')[0]?.headers['mcp-session-id'], known);
	t.is((await gateway.post(service, {id: 1, method: 'ping'}, headers)).status, 404);
	t.is((await gateway.fetch(`/mcp/${service}`, {method: 'DELETE', headers})).status, 404);
});

test.serial(
	'an upstream that does not end sessions says 405, and so does bridge, which ends its own [C10]',
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

test.serial('an upstream that says nothing to the end of a session keeps nobody waiting [C10]', async t => {
	const {gateway, upstream, service} = use('mute');
	upstream.mood = ({verb}) => verb === 'DELETE';
	const {headers} = await gateway.open(service);
	t.is((await gateway.fetch(`/mcp/${service}`, {method: 'DELETE', headers})).status, 200);
});
