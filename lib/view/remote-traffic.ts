import {nextPauseMs} from '../back-off.js';
import type {Headers} from '../envelope.js';
import {MESSAGE_LIMIT} from '../operators/frame.js';
import {exchange, type Reader} from '../transports/http-exchange.js';
import {SseParser} from '../wire/sse.js';

export type RemoteTrafficOptions = {
	/** The gateway, or its stream of traffic. */
	readonly url: URL;
	readonly headers: Headers;
	/** Told how it is going, in a sentence; nothing where all is well. */
	readonly tell: (note: string) => void;
};

/** The traffic of a gateway elsewhere, connected to again and again. */
export function remoteTraffic({url, headers, tell}: RemoteTrafficOptions) {
	const target = url.pathname === '/' ? new URL('/traffic', url) : url;
	return (hear: (line: Buffer) => void): (() => void) => {
		let pauseMs: number | undefined;
		let timer: NodeJS.Timeout | undefined;
		let upSince = 0;
		const again = (reason: string): void => {
			tell(`${target.origin} ${reason}; trying again.`);
			const upMs = upSince === 0 ? 0 : performance.now() - upSince;
			pauseMs = nextPauseMs(pauseMs, upMs);
			timer = setTimeout(connect, pauseMs).unref();
		};
		const read = (status: number): Reader => {
			if (status !== 200) return {onData: () => {}, onEnd: () => again(refused(status))};
			upSince = performance.now();
			tell('');
			const parser = new SseParser(2 * MESSAGE_LIMIT, {
				event: ({data}) => {
					if (data.length > 0) hear(Buffer.from(data));
				},
				tooLarge: () => {},
			});
			return {onData: chunk => parser.push(chunk), onEnd: () => again('has ended the stream')};
		};
		let stop = (): void => {};
		const connect = (): void => {
			upSince = 0;
			stop = exchange({
				method: 'GET',
				url: target,
				headers: {...headers, accept: 'text/event-stream'},
				onHead: read,
				onError: error => again(`cannot be reached (${error.message})`),
			});
		};
		connect();
		return () => {
			clearTimeout(timer);
			stop();
		};
	};
}

const refused = (status: number): string =>
	status === 401 || status === 403
		? `answers ${status}: give its token with --header "X-Bridge-Token: …"`
		: `answers ${status} and no traffic: is it a bridge gateway?`;
