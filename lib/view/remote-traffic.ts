import type {Headers} from '../core/envelope.js';
import {MESSAGE_LIMIT} from '../operators/frame.js';
import {type BodyHandler, sendHttpRequest} from '../transports/http-client/http-request.js';
import {nextDelayMs} from '../util/backoff.js';
import {SseParser} from '../wire/sse.js';

type RemoteTrafficOptions = {
	/** The URL of the gateway or of its traffic stream. */
	readonly url: URL;
	readonly headers: Headers;
	/** Receives the connection status as a sentence; empty if connected. */
	readonly onStatus: (note: string) => void;
};

/** Subscribes to the traffic of a remote gateway. Reconnects with increasing delays. */
export function subscribeToRemoteTraffic({url, headers, onStatus}: RemoteTrafficOptions) {
	const target = url.pathname === '/' ? new URL('/traffic', url) : url;
	return (listener: (line: Buffer) => void): (() => void) => {
		let delayMs: number | undefined;
		let timer: NodeJS.Timeout | undefined;
		let connectedAt = 0;
		const reconnect = (reason: string): void => {
			onStatus(`${target.origin} ${reason}; reconnecting.`);
			const connectedMs = connectedAt === 0 ? 0 : performance.now() - connectedAt;
			delayMs = nextDelayMs(delayMs, connectedMs);
			timer = setTimeout(connect, delayMs).unref();
		};
		const onHead = (status: number): BodyHandler => {
			if (status !== 200) return {onData: () => {}, onEnd: () => reconnect(describeRejection(status))};
			connectedAt = performance.now();
			onStatus('');
			const parser = new SseParser(2 * MESSAGE_LIMIT, {
				event: ({data}) => {
					if (data.length > 0) listener(Buffer.from(data));
				},
				tooLarge: () => {},
			});
			return {onData: chunk => parser.push(chunk), onEnd: () => reconnect('closed the stream')};
		};
		let stop = (): void => {};
		const connect = (): void => {
			connectedAt = 0;
			stop = sendHttpRequest({
				method: 'GET',
				url: target,
				headers: {...headers, accept: 'text/event-stream'},
				onResponse: onHead,
				onError: error => reconnect(`cannot be reached (${error.message})`),
			});
		};
		connect();
		return () => {
			clearTimeout(timer);
			stop();
		};
	};
}

const describeRejection = (status: number): string =>
	status === 401 || status === 403
		? `responded with ${status}: pass its token with --header "X-Bridge-Token: …"`
		: `responded with ${status} instead of traffic: check that it is a bridge gateway`;
