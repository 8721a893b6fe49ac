import type {ExecutionContext} from 'ava';
import {createParser, type EventSourceMessage} from 'eventsource-parser';
import type {RunningGateway} from '../../helpers/gateway.js';
import type {Roamer} from './support.js';

/** A GET stream of a client. */
export type Listening = {
	/** The data of the next event with data. */
	next(): Promise<string>;
	readonly events: readonly EventSourceMessage[];
	/** The received retry intervals, in ms. */
	readonly retries: readonly number[];
	/** Resolves when the server ends the stream. */
	readonly ended: Promise<void>;
	close(): void;
};

/** Opens the GET stream of a client at a gateway. */
export async function eventsOf(
	t: ExecutionContext,
	gateway: RunningGateway,
	{service, headers}: Roamer,
	lastEventId?: string,
): Promise<Listening> {
	const stop = new AbortController();
	t.teardown(() => stop.abort());
	const response = await fetch(new URL(`/mcp/${service}`, gateway.base), {
		headers: {
			...headers,
			accept: 'text/event-stream',
			...(lastEventId === undefined ? {} : {'last-event-id': lastEventId}),
		},
		signal: stop.signal,
	});
	if (response.status !== 200 || !response.body) throw new Error(`No stream: ${response.status}`);
	const events: EventSourceMessage[] = [];
	const retries: number[] = [];
	const waiting: Array<(data: string) => void> = [];
	const unread: string[] = [];
	const parser = createParser({
		onEvent: event => {
			events.push(event);
			if (event.data === '') return;
			const next = waiting.shift();
			if (next) next(event.data);
			else unread.push(event.data);
		},
		onRetry: ms => void retries.push(ms),
	});
	const read = async (body: AsyncIterable<Uint8Array>): Promise<void> => {
		const decoder = new TextDecoder();
		try {
			for await (const chunk of body) parser.feed(decoder.decode(chunk, {stream: true}));
		} catch {
			// The stream was closed or broken off.
		}
	};
	return {
		events,
		retries,
		ended: read(response.body as unknown as AsyncIterable<Uint8Array>),
		next: () => {
			const data = unread.shift();
			return data === undefined ? new Promise(resolve => waiting.push(resolve)) : Promise.resolve(data);
		},
		close: () => stop.abort(),
	};
}
