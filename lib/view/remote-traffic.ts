import type {Headers} from '../core/envelope.js';
import {MESSAGE_LIMIT} from '../operators/frame.js';
import {type BodyHandler, sendHttpRequest} from '../transports/http-client/http-request.js';
import {nextDelayMs} from '../util/backoff.js';
import {SseParser} from '../wire/sse.js';

type RemoteTrafficOptions = {
	/** The gateway, or its stream of traffic. */
	readonly url: URL;
	readonly headers: Headers;
	/** Told how it is going, in a sentence; nothing where all is well. */
	readonly onStatus: (note: string) => void;
};

/** The traffic of a gateway elsewhere, connected to again and again. */
export function subscribeToRemoteTraffic({url, headers, onStatus: tell}: RemoteTrafficOptions) {
	const target = url.pathname === '/' ? new URL('/traffic', url) : url;
	return (listener: (line: Buffer) => void): (() => void) => {
		let delayMs: number | undefined;
		let timer: NodeJS.Timeout | undefined;
		let connectedAt = 0;
		const reconnect = (reason: string): void => {
			tell(`${target.origin} ${reason}; trying again.`);
			const connectedMs = connectedAt === 0 ? 0 : performance.now() - connectedAt;
			delayMs = nextDelayMs(delayMs, connectedMs);
			timer = setTimeout(connect, delayMs).unref();
		};
		const onHead = (status: number): BodyHandler => {
			if (status !== 200) return {onData: () => {}, onEnd: () => reconnect(describeRejection(status))};
			connectedAt = performance.now();
			tell('');
			const parser = new SseParser(2 * MESSAGE_LIMIT, {
				event: ({data}) => {
					if (data.length > 0) listener(Buffer.from(data));
				},
				tooLarge: () => {},
			});
			return {onData: chunk => parser.push(chunk), onEnd: () => reconnect('has ended the stream')};
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
		? `answers ${status}: give its token with --header "X-Bridge-Token: …"`
		: `answers ${status} and no traffic: is it a bridge gateway?`;
