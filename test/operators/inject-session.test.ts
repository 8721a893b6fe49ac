import test from 'ava';
import {tap} from 'rxjs';
import {Envelope, type HttpErrorReply} from '../../lib/core/envelope.js';
import {Valve} from '../../lib/core/valve.js';
import {injectSession} from '../../lib/operators/inject-session.js';
import {converse, readableLog} from '../helpers/pipeline.js';

const {log} = readableLog();
const greeting = {jsonrpc: '2.0', id: 0, method: 'initialize', params: {}};

/** A client in front of a server that has given it the session a, and what the server is asked, with which session. */
function inSession() {
	let ids = 0;
	const asked: Array<{readonly body: Envelope['body']; readonly session: string | undefined}> = [];
	const {client, upstream} = converse(
		injectSession({upstream: 'files', log, nextRequestId: () => `own-${++ids}`}),
		{
			toUpstream: tap(({body, headers}) => asked.push({body, session: headers?.['mcp-session-id']})),
		},
	);
	return {client, upstream, asked};
}

const answer = (id: unknown, session: string | undefined, refusal?: HttpErrorReply): Envelope =>
	Envelope.of(
		{jsonrpc: '2.0', id, ...(refusal ? {error: {code: -32000, message: 'No'}} : {result: {}})},
		{
			name: 'files',
			valve: new Valve(),
			headers: session === undefined ? {} : {'mcp-session-id': session},
			...(refusal ? {errorReply: refusal} : {}),
		},
	);

const unknown: HttpErrorReply = {status: 400, headers: {}, body: Buffer.from('No valid session ID')};
const down: HttpErrorReply = {status: 503, headers: {}, body: Buffer.from('')};

type Setting = ReturnType<typeof inSession>;
const last = ({asked}: Setting) => asked.at(-1);
const say = ({client}: Setting, body: Envelope['body']): void => client.send(body);

function opened(): Setting {
	const setting = inSession();
	say(setting, greeting);
	setting.upstream.sayEnvelope(answer(0, 'a'));
	return setting;
}

test('A handshake that fails when the session was lost is tried again by who asks next', t => {
	const setting = opened();
	say(setting, {id: 1, method: 'tools/call'});
	setting.upstream.sayEnvelope(answer(1, undefined, unknown));
	t.is(last(setting)?.body.method, 'initialize');
	setting.upstream.sayEnvelope(answer(last(setting)?.body.id, undefined, down));
	t.is(setting.client.received.length, 2, 'the first call is refused');
	say(setting, {id: 2, method: 'tools/call'});
	t.is(last(setting)?.session, 'a');
	setting.upstream.sayEnvelope(answer(2, undefined, unknown));
	setting.upstream.sayEnvelope(answer(last(setting)?.body.id, 'b'));
	t.like(last(setting), {body: {id: 2, method: 'tools/call'}, session: 'b'});
});

test('What is cancelled while hands are shaken again is not asked then', t => {
	const setting = opened();
	say(setting, {id: 1, method: 'tools/call'});
	setting.upstream.sayEnvelope(answer(1, undefined, unknown));
	const {id} = last(setting)?.body ?? {};
	say(setting, {id: 2, method: 'tools/call'});
	for (const requestId of [1, 2]) say(setting, {method: 'notifications/cancelled', params: {requestId}});
	setting.upstream.sayEnvelope(answer(id, 'b'));
	t.is(last(setting)?.body.method, 'initialize', 'nothing follows');
	say(setting, {id: 3, method: 'tools/call'});
	t.like(last(setting), {body: {id: 3}, session: 'b'});
});

test('What is still said in a session that was lost does not bring it back', t => {
	const setting = opened();
	say(setting, {id: 1, method: 'tools/call'});
	setting.upstream.sayEnvelope(answer(1, undefined, unknown));
	setting.upstream.sayEnvelope(answer(last(setting)?.body.id, 'b'));
	const {origin} = answer(9, 'a');
	setting.upstream.sayEnvelope(Envelope.of({jsonrpc: '2.0', method: 'notifications/message'}, origin));
	say(setting, {id: 2, method: 'ping'});
	t.is(last(setting)?.session, 'b');
});
