import test from 'ava';
import {tap} from 'rxjs';
import {Envelope, type HttpErrorReply} from '../../lib/core/envelope.js';
import {Valve} from '../../lib/core/valve.js';
import {injectSession} from '../../lib/operators/inject-session.js';
import {converse, readableLog} from '../helpers/pipeline.js';

const {log} = readableLog();
const initialize = {jsonrpc: '2.0', id: 0, method: 'initialize', params: {}};

/** Connects a pair, and records the requests to the upstream with their session ids. */
function connect() {
	let ids = 0;
	const requests: Array<{readonly body: Envelope['body']; readonly session: string | undefined}> = [];
	const {client, upstream} = converse(
		injectSession({upstream: 'files', log, nextRequestId: () => `own-${++ids}`}),
		{
			toUpstream: tap(({body, headers}) => requests.push({body, session: headers?.['mcp-session-id']})),
		},
	);
	return {client, upstream, requests};
}

const response = (id: unknown, session: string | undefined, errorReply?: HttpErrorReply): Envelope =>
	Envelope.of(
		{jsonrpc: '2.0', id, ...(errorReply ? {error: {code: -32000, message: 'No'}} : {result: {}})},
		{
			name: 'files',
			valve: new Valve(),
			headers: session === undefined ? {} : {'mcp-session-id': session},
			...(errorReply ? {errorReply} : {}),
		},
	);

const unknown: HttpErrorReply = {status: 400, headers: {}, body: Buffer.from('No valid session ID')};
const down: HttpErrorReply = {status: 503, headers: {}, body: Buffer.from('')};

type Setup = ReturnType<typeof connect>;
const lastRequest = ({requests}: Setup) => requests.at(-1);
const send = ({client}: Setup, body: Envelope['body']): void => client.send(body);

/** Initializes the session a. */
function initialized(): Setup {
	const setup = connect();
	send(setup, initialize);
	setup.upstream.sayEnvelope(response(0, 'a'));
	return setup;
}

test('retries a failed re-initialization with the next request', t => {
	const setup = initialized();
	send(setup, {id: 1, method: 'tools/call'});
	setup.upstream.sayEnvelope(response(1, undefined, unknown));
	t.is(lastRequest(setup)?.body.method, 'initialize');
	setup.upstream.sayEnvelope(response(lastRequest(setup)?.body.id, undefined, down));
	t.is(setup.client.received.length, 2, 'the first call fails');
	send(setup, {id: 2, method: 'tools/call'});
	t.is(lastRequest(setup)?.session, 'a');
	setup.upstream.sayEnvelope(response(2, undefined, unknown));
	setup.upstream.sayEnvelope(response(lastRequest(setup)?.body.id, 'b'));
	t.like(lastRequest(setup), {body: {id: 2, method: 'tools/call'}, session: 'b'});
});

test('does not send requests that are cancelled during a re-initialization', t => {
	const setup = initialized();
	send(setup, {id: 1, method: 'tools/call'});
	setup.upstream.sayEnvelope(response(1, undefined, unknown));
	const {id} = lastRequest(setup)?.body ?? {};
	send(setup, {id: 2, method: 'tools/call'});
	for (const requestId of [1, 2]) send(setup, {method: 'notifications/cancelled', params: {requestId}});
	setup.upstream.sayEnvelope(response(id, 'b'));
	t.is(lastRequest(setup)?.body.method, 'initialize', 'nothing follows');
	send(setup, {id: 3, method: 'tools/call'});
	t.like(lastRequest(setup), {body: {id: 3}, session: 'b'});
});

test('ignores the session id of late messages of a lost session', t => {
	const setup = initialized();
	send(setup, {id: 1, method: 'tools/call'});
	setup.upstream.sayEnvelope(response(1, undefined, unknown));
	setup.upstream.sayEnvelope(response(lastRequest(setup)?.body.id, 'b'));
	const {origin} = response(9, 'a');
	setup.upstream.sayEnvelope(Envelope.of({jsonrpc: '2.0', method: 'notifications/message'}, origin));
	send(setup, {id: 2, method: 'ping'});
	t.is(lastRequest(setup)?.session, 'b');
});
