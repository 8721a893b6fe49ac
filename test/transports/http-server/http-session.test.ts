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

/** A session behind an HTTP server of its own, and how its client speaks. */
async function started(t: ExecutionContext) {
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
		const leave = new AbortController();
		const headers = lastEventId === undefined ? {} : {'last-event-id': lastEventId};
		const response = await fetch(url, {headers, signal: leave.signal});
		return reader(response, leave);
	};
	const post = async (message: object) => {
		const leave = new AbortController();
		const response = fetch(url, {method: 'POST', body: JSON.stringify(message), signal: leave.signal});
		return {response, leave};
	};
	/** The next connection of a client that is over. */
	const left = async (): Promise<void> => {
		const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
		await once(response, 'close');
	};
	return {session, listen, post, left};
}

/** Reads a stream until something is in it. */
function reader(response: Response, leave: AbortController) {
	const chunks = response.body?.getReader();
	let text = '';
	return {
		leave: () => leave.abort(),
		async until(pattern: RegExp): Promise<string> {
			while (!pattern.test(text)) {
				const {value, done} = (await chunks?.read()) ?? {value: undefined, done: true};
				if (done) throw new Error(`It ended after: ${text}`);
				text += Buffer.from(value ?? []).toString();
			}
			return text;
		},
		/** All that comes until the end. */
		async rest(): Promise<string> {
			for (let next = await chunks?.read(); next && !next.done; next = await chunks?.read())
				text += Buffer.from(next.value).toString();
			return text;
		},
	};
}

test('A client that comes back to its stream hears what was said while it was away', async t => {
	const {session, listen, left} = await started(t);
	const over = left();
	const first = await listen();
	const [, id] = /^id: (\S+)$/m.exec(await first.until(/\n\n/)) ?? [];
	first.leave();
	await over;
	session.outgoing.next(note(1));
	session.outgoing.next(note(2));
	const second = await listen(id);
	t.regex(await second.until(/"at":2/), /"at":1.*"at":2/s);
	second.leave();
});

test('A client that comes back to its stream has the connection before ended', async t => {
	const {session, listen} = await started(t);
	const first = await listen();
	const [, id] = /^id: (\S+)$/m.exec(await first.until(/\n\n/)) ?? [];
	const second = await listen(id);
	session.outgoing.next(note(1));
	await second.until(/"at":1/);
	t.notRegex(await first.rest(), /"at":1/);
	second.leave();
});

test('A client that comes back late gets its answer, though the beginning of the stream is gone', async t => {
	const {session, listen, post, left} = await started(t);
	const over = left();
	const asked = firstValueFrom(session.incoming);
	const {response, leave} = await post(call);
	await asked;
	for (let at = 1; at <= 1200; at++) session.outgoing.next(progress(at));
	const stream = reader(await response, leave);
	const [, id] = /^id: (\d+-1100)$/m.exec(await stream.until(/"progress":1100\b/)) ?? [];
	stream.leave();
	await over;
	session.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 1, result: {isDone: true}}));
	const again = await listen(id);
	const text = await again.rest();
	t.regex(text, /"progress":1101\b.*"isDone":true/s);
	t.notRegex(text, /"progress":1100\b/);
});

test('A POST whose request was given up ends, though the server never answers it', async t => {
	const {session, post} = await started(t);
	const asked = firstValueFrom(session.incoming);
	const {response} = await post(call);
	await asked;
	t.true(session.isInUse);
	const params = {requestId: 1};
	const notice = await post({jsonrpc: '2.0', method: 'notifications/cancelled', params});
	t.is((await notice.response).status, 202);
	t.like(await (await response).json(), {id: 1, error: {code: -31_006}});
	t.false(session.isInUse);
});

test('fails the request of a client that resumes for a response over the limit of kept events [SEC-D5]', async t => {
	const {session, listen, post, left} = await started(t);
	const over = left();
	const asked = firstValueFrom(session.incoming);
	const {response, leave} = await post(call);
	await asked;
	session.outgoing.next(progress(1));
	const stream = reader(await response, leave);
	const [, id] = /^id: (\d+-1)$/m.exec(await stream.until(/"progress":1\b/)) ?? [];
	stream.leave();
	await over;
	session.outgoing.next(Envelope.of({jsonrpc: '2.0', id: 1, result: {text: 'x'.repeat(5 * 2 ** 20)}}));
	const text = await (await listen(id)).rest();
	const [, message = 'null'] = /^data: (.+)$/m.exec(text) ?? [];
	t.like(JSON.parse(message), {id: 1, error: {code: -31007, data: {limit: 4 * 2 ** 20}}});
});
