import type {IncomingMessage, ServerResponse} from 'node:http';
import type {ExecutionContext} from 'ava';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import type {BridgeError} from '../../../lib/core/errors.js';
import {type SseClientOptions, sseClient} from '../../../lib/transports/sse/sse-client.js';
import {readableLog} from '../../helpers/pipeline.js';
import {bodyOf, portOf, serve} from '../http-peers.js';

type Post = {
	readonly url: string | undefined;
	readonly body: string;
	readonly headers: IncomingMessage['headers'];
};
type Handle = (response: ServerResponse, request: IncomingMessage) => unknown;

/** Responds with an event stream that starts with `text`. */
export const stream = (
	response: ServerResponse,
	text = 'event: endpoint\ndata: /post?s=1\n\n',
): ServerResponse => {
	response.writeHead(200, {'content-type': 'text/event-stream'}).write(text);
	return response;
};

/** A server that handles GET and POST with these functions, and a client of it. */
export async function start(
	t: ExecutionContext,
	onGet: Handle = response => stream(response),
	onPost: Handle = response => response.writeHead(202).end('Accepted'),
	options: Partial<SseClientOptions> = {},
) {
	const posts: Post[] = [];
	const gets: IncomingMessage[] = [];
	const streams: ServerResponse[] = [];
	const server = await serve(t, async (request, response) => {
		if (request.method === 'GET') {
			gets.push(request);
			streams.push(response);
			onGet(response, request);
			return;
		}
		const {url, headers} = request;
		posts.push({url, headers, body: String(await bodyOf(request))});
		onPost(response, request);
	});
	const {log, entries} = readableLog();
	const url = new URL(`http://127.0.0.1:${portOf(server)}/sse?key=secret`);
	const client = sseClient({name: 'remote', url, log, ...options});
	const received: Envelope[] = [];
	let failure: BridgeError | undefined;
	let isOver = false;
	const listen = (): void => {
		client.incoming.subscribe({
			next: envelope => received.push(envelope),
			error: reason => {
				failure = reason as BridgeError;
			},
			complete: () => {
				isOver = true;
			},
		});
	};
	t.teardown(() => client.close());
	const texts = (): string[] => received.map(({bytes}) => String(bytes));
	const send = (text: string, origin?: MessageOrigin): void =>
		client.outgoing.next(Envelope.fromText(text, origin));
	return {
		client,
		listen,
		send,
		received,
		texts,
		posts,
		gets,
		streams,
		entries,
		error: () => failure,
		isOver: () => isOver,
	};
}
