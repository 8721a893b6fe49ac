import test from 'ava';
import {bridgeOrigin, Envelope} from '../../../lib/core/envelope.js';
import {createLog} from '../../../lib/core/log.js';
import {connect} from '../../../lib/core/stage.js';
import {httpClient} from '../../../lib/transports/http-client/http-client.js';
import {HttpSession} from '../../../lib/transports/http-server/http-session.js';
import {EventSource} from '../../helpers/event-source.js';
import {event, startUpstream, stream} from '../../helpers/upstream.js';
import {portOf, serve} from '../../transports/http-peers.js';

const log = createLog({level: 'error', write: () => {}, isPretty: false});
const notice = {method: 'notifications/message', params: {level: 'info', data: 'first'}};
const change = {method: 'notifications/tools/list_changed'};

test('keeps a silent stream open and sends keep-alive comments to the client [D9]', async t => {
	const upstream = await startUpstream(t);
	upstream.hasSessions = false;
	const session = new HttpSession({
		name: 'client',
		log,
		id: () => 'x',
		keepAliveMs: 20,
		version: () => '2025-11-25',
		requestIdOf: key => key,
	});
	connect(session, [], httpClient({name: 'upstream', url: new URL(upstream.url), log}));
	const server = await serve(t, (request, response) => {
		if (request.method === 'GET') {
			session.listen(response, undefined);
			return;
		}
		const call = Envelope.received(
			Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}\n'),
			bridgeOrigin,
		);
		session.post({envelope: call, headers: {}, accepts: {json: true, events: true}, response});
	});
	const base = `http://127.0.0.1:${portOf(server)}`;
	session.incoming.next(Envelope.of({jsonrpc: '2.0', method: 'notifications/initialized'}));
	await upstream.meets('GET');
	upstream.mood = met => {
		if (met.message.method === 'tools/call') stream(met, event(notice));
		return met.message.method === 'tools/call';
	};
	const [listening, calling] = await Promise.all([
		fetch(base).then(response => new EventSource(response)),
		fetch(base, {method: 'POST'}).then(response => new EventSource(response)),
	]);
	t.like(await calling.message(), notice);
	for (const source of [listening, calling])
		while ((source.text.match(/^: /gm)?.length ?? 0) < 5) t.true(await source.more());
	upstream.say(change);
	t.like(await listening.message(), change);
	const met = await upstream.meets('tools/call');
	met.response.end(event({id: 1, result: {}}));
	t.like(await calling.message(), {id: 1, result: {}});
	await session.close();
});
