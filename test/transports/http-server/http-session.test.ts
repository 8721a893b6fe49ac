import {once} from 'node:events';
import type {IncomingMessage, ServerResponse} from 'node:http';
import test, {type ExecutionContext} from 'ava';
import {firstValueFrom} from 'rxjs';
import {bridgeOrigin, Envelope} from '../../../lib/core/envelope.js';
import {createLog} from '../../../lib/core/log.js';
import {envelopeFromMessage} from '../../../lib/core/whole-message.js';
import {HttpSession} from '../../../lib/transports/http-server/http-session.js';
import {bodyOf, portOf, serve} from '../http-peers.js';

const log = createLog({level: 'error', write: () => {}, isPretty: false});
const note = (at: number) => Envelope.of({jsonrpc: '2.0', method: 'notifications/message', params: {at}});
const progress = (at: number) =>
	Envelope.of({jsonrpc: '2.0', method: 'notifications/progress', params: {progressToken: 'a', progress: at}});
const call = {jsonrpc: '2.0', id: 1, method: 'tools/call', params: {_meta: {progressToken: 'a'}}};

/** Starts a session behind an HTTP server. Returns functions of its client. */
async function start(t: ExecutionContext) {
	const session = new HttpSession({
		name: 'client',
		log,
		id: () => 'a',
		version: () => '2025-11-25',
		requestIdOf: () => undefined,
	});
	const take = async (req: IncomingMessage, response: ServerResponse): Promise<void> => {
		const lastEventId = req.headers['last-event-id'];
		if (req.method === 'GET') session.listen(response, lastEventId as string | undefined);
		else {
			const envelope = envelopeFromMessage(await bodyOf(req), bridgeOrigin);
			session.post({envelope, headers: {}, accepts: {json: true, events: true}, response});
		}
	};
	const server = await serve(t, (req, response) => void take(req, response));
	const url = `http://127.0.0.1:${portOf(server)}`;
	const listen = async (lastEventId?: string) => {
		const abort = new AbortController();
		const headers = lastEventId === undefined ? {} : {'last-event-id': lastEventId};
		const response = await fetch(url, {headers, signal: abort.signal});
		return reader(response, abort);
	};
	const post = async (message: object) => {
		const abort = new AbortController();
		const response = fetch(url, {method: 'POST', body: JSON.stringify(message), signal: abort.signal});
		return {response, abort};
	};
	/** Resolves when the response to the next request is closed. */
	const nextClosed = async (): Promise<void> => {
		const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
		await once(response, 'close');
	};
	return {session, listen, post, nextClosed};
}

/** Reads the body of a response. */
function reader(response: Response, abort: AbortController) {
	const chunks = response.body?.getReader();
	let text = '';
	return {
		abort: () => abort.abort(),
		async until(pattern: RegExp): Promise<string> {
			while (!pattern.test(text)) {
				const {value, done} = (await chunks?.read()) ?? {value: undefined, done: true};
				if (done) throw new Error(`The stream ended after: ${text}`);
				text += Buffer.from(value ?? []).toString();
			}
			return text;
		},
		/** Reads to the end. */
		async rest(): Promise<string> {
			for (let next = await chunks?.read(); next && !next.done; next = await chunks?.read())
				text += Buffer.from(next.value).toString();
			return text;
		},
	};
}

test('replays missed messages to a client that resumes its stream', async t => {
	const {session, listen, nextClosed} = await start(t);
	const closed = nextClosed();
	const first = await listen();
	const [, id] = /^id: (\S+)$/m.exec(await first.until(/\n\n/)) ?? [];
	first.abort();
	await closed;
	session.outgoing.next(note(1));
	session.outgoing.next(note(2));
	const second = await listen(id);
	t.regex(await second.until(/"at":2/), /"at":1.*"at":2/s);
	second.abort();
});

test('ends the previous connection of a client that resumes its stream', async t => {
	const {session, listen} = await start(t);
	const first = await listen();
	const [, id] = /^id: (\S+)$/m.exec(await first.until(/\n\n/)) ?? [];
	const second = await listen(id);
	session.outgoing.next(note(1));
	await second.until(/"at":1/);
	t.notRegex(await first.rest(), /"at":1/);
	second.abort();
});

test('delivers the response to a client that resumes after the first events were evicted', async t => {
	const {session, listen, post, nextClosed} = await start(t);
	const closed = nextClosed();
	const requestArrived = firstValueFrom(session.incoming);
	const {response, abort} = await post(call);
	await requestArrived;
	for (let at = 1; at <= 1200; at++) session.outgoing.next(progress(at));
	const stream = reader(await response, abort);
	const [, id] = /^id: (\d+-1100)$/m.exec(await stream.until(/"progress":1100\b/)) ?? [];
	stream.abort();
	await closed;
	session.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 1, result: {isDone: true}}));
	const again = await listen(id);
	const text = await again.rest();
	t.regex(text, /"progress":1101\b.*"isDone":true/s);
	t.notRegex(text, /"progress":1100\b/);
});

test('completes the POST of a cancelled request without a response of the upstream', async t => {
	const {session, post} = await start(t);
	const requestArrived = firstValueFrom(session.incoming);
	const {response} = await post(call);
	await requestArrived;
	t.true(session.isInUse);
	const params = {requestId: 1};
	const notice = await post({jsonrpc: '2.0', method: 'notifications/cancelled', params});
	t.is((await notice.response).status, 202);
	t.like(await (await response).json(), {id: 1, error: {code: -31_006}});
	t.false(session.isInUse);
});

test('replays an error for a response over the buffer limit [SEC-D5]', async t => {
	const {session, listen, post, nextClosed} = await start(t);
	const closed = nextClosed();
	const requestArrived = firstValueFrom(session.incoming);
	const {response, abort} = await post(call);
	await requestArrived;
	session.outgoing.next(progress(1));
	const stream = reader(await response, abort);
	const [, id] = /^id: (\d+-1)$/m.exec(await stream.until(/"progress":1\b/)) ?? [];
	stream.abort();
	await closed;
	session.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 1, result: {text: 'x'.repeat(5 * 2 ** 20)}}));
	const text = await (await listen(id)).rest();
	const [, message = 'null'] = /^data: (.+)$/m.exec(text) ?? [];
	t.like(JSON.parse(message), {id: 1, error: {code: -31007, data: {limit: 4 * 2 ** 20}}});
});
