import {setTimeout as sleep} from 'node:timers/promises';
import {Channel} from '../core/channel.js';
import {Envelope, type MessageOrigin} from '../core/envelope.js';
import type {Log} from '../core/log.js';
import {logBug} from '../core/log.js';
import type {Endpoint} from '../core/stage.js';
import {Valve} from '../core/valve.js';
import type {RecordedMessage} from '../traffic-log/log-contents.js';
import {canonicalId} from '../wire/id.js';
import {memberRange, memberText} from '../wire/member.js';
import type {ReplayTiming} from './client-player.js';
import {type ExchangeIndex, progressTokenOf} from './exchange-index.js';
import {requestNotRecorded, responseNotRecorded} from './not-recorded.js';
import type {PlaybackStep, RecordedExchange} from './recorded-exchanges.js';

type ServerPlayerOptions = {
	readonly name: string;
	readonly exchanges: ExchangeIndex;
	readonly timing: ReplayTiming;
	readonly log: Log;
};

/** How long a client may take to respond to a recorded server request before the playback continues. */
const CLIENT_RESPONSE_TIMEOUT_MS = 60_000;

type Playback = {
	readonly exchange: RecordedExchange;
	/** The id of the live request and its progress token, as JSON text. */
	readonly id: string | undefined;
	readonly token: string | undefined;
	readonly stop: AbortController;
	/** Server requests that the live client has not responded to. */
	readonly serverRequests: Map<RecordedMessage, Promise<void>>;
};

/** An upstream that responds to a live client as a recorded server did. */
export class ServerPlayer implements Endpoint {
	readonly name: string;
	readonly incoming = new Channel();
	readonly outgoing;
	readonly disconnected: Promise<void>;
	readonly #options: ServerPlayerOptions;
	readonly #origin: MessageOrigin;
	/** Exchanges that were already played to this client. */
	readonly #played = new Set<RecordedExchange>();
	/** Active playbacks, by the id of the live request. */
	readonly #playbacks = new Map<string, Playback>();
	/** Callbacks for the responses to server requests, by id. */
	readonly #pendingServerRequests = new Map<string, () => void>();
	readonly #active = new Set<Playback>();
	#isClosed = false;
	#resolveDisconnected: () => void = () => {};
	#serverRequestCount = 0;
	#lastExchange: RecordedExchange | undefined;

	constructor(options: ServerPlayerOptions) {
		this.name = options.name;
		this.#options = options;
		this.#origin = {name: options.name, valve: new Valve()};
		this.outgoing = {
			next: (envelope: Envelope): void => this.#onMessage(envelope),
			error: (): void => void this.close(),
			complete: (): void => {},
		};
		this.disconnected = new Promise(resolve => {
			this.#resolveDisconnected = resolve;
		});
	}

	async close(): Promise<void> {
		this.#isClosed = true;
		for (const {stop} of this.#active) stop.abort();
		this.#resolveDisconnected();
		this.incoming.complete();
	}

	#onMessage(envelope: Envelope): void {
		const {key, method, flaw} = envelope.head;
		if (flaw !== undefined) return;
		if (method === undefined) this.#pendingServerRequests.get(key ?? '')?.();
		else if (key !== undefined) this.#onRequest(envelope, method, key);
		else if (method === 'notifications/cancelled') this.#onCancelled(envelope);
		else this.#onNotification(method);
	}

	#onRequest(envelope: Envelope, method: string, key: string): void {
		const {exchanges} = this.#options;
		const {id = ''} = envelope.head;
		const found = exchanges.find(method, envelope.body.params);
		if (!('same' in found)) {
			const {nearest, differences} = found;
			// A recorded server may not have received any ping.
			const response =
				method === 'ping'
					? Envelope.response(id, 'result', {})
					: Envelope.errorResponse(
							id,
							requestNotRecorded({method, exchanges, nearest, differences}),
							this.#origin,
						);
			this.incoming.next(response);
			return;
		}
		const exchange = this.#selectExchange(found.same);
		if (!exchange.hasResponse && !exchange.isCancelled) {
			this.incoming.next(Envelope.errorResponse(id, responseNotRecorded(method), this.#origin));
			return;
		}
		this.#startPlayback({exchange, id, token: progressTokenOf(envelope.line)}, key);
	}

	/**
	 * Prefers exchanges that were not played yet, first in the current conversation. Otherwise, repeats the
	 * last one.
	 */
	#selectExchange(same: readonly RecordedExchange[]): RecordedExchange {
		const unplayed = same.filter(exchange => !this.#played.has(exchange) && exchange.hasResponse);
		const next = unplayed.find(({conversation}) => conversation === this.#lastExchange?.conversation);
		return (
			next ?? unplayed[0] ?? same.findLast(exchange => exchange.hasResponse) ?? (same[0] as RecordedExchange)
		);
	}

	#onNotification(method: string): void {
		const exchange = this.#options.exchanges
			.notifications(method)
			.find(candidate => !this.#played.has(candidate));
		if (exchange) this.#startPlayback({exchange, id: undefined, token: undefined});
	}

	#startPlayback(request: Pick<Playback, 'exchange' | 'id' | 'token'>, key?: string): void {
		const {exchange} = request;
		const isFirst = !this.#played.has(exchange);
		const playback: Playback = {...request, stop: new AbortController(), serverRequests: new Map()};
		this.#played.add(exchange);
		this.#lastExchange = exchange;
		if (key !== undefined) this.#playbacks.set(key, playback);
		const run = async (): Promise<void> => {
			await this.#playSteps(exchange.responseSteps, playback);
			if (key !== undefined && this.#playbacks.get(key) === playback) this.#playbacks.delete(key);
			if (isFirst) await this.#playSteps(exchange.laterSteps, playback);
		};
		this.#active.add(playback);
		run()
			.catch(error => {
				if (!playback.stop.signal.aborted) logBug(this.#options.log, error);
			})
			.finally(() => this.#active.delete(playback));
	}

	async #playSteps(steps: readonly PlaybackStep[], playback: Playback): Promise<void> {
		for (const {message, delayMs, after} of steps) {
			await Promise.all(after.map(serverRequest => playback.serverRequests.get(serverRequest)));
			if (this.#options.timing === 'recorded')
				await sleep(delayMs, undefined, {ref: false, signal: playback.stop.signal});
			await new Promise<void>(resolve => this.#origin.valve.whenOpen(resolve));
			if (playback.stop.signal.aborted || this.#isClosed) return;
			this.#sendRecorded(message, playback);
		}
	}

	#sendRecorded(message: RecordedMessage, playback: Playback): void {
		const envelope = Envelope.received(this.#options.exchanges.recording.line(message), this.#origin);
		if (message.kind === 'response') this.incoming.next(envelope.forwardedAs(this.#origin, playback.id));
		else if (message.kind === 'request') this.#sendServerRequest(message, envelope, playback);
		else if (message.method !== 'notifications/progress') this.incoming.next(envelope);
		else this.#sendProgress(envelope, playback);
	}

	/** Sends progress with the live client's token. A client without a token has not requested progress. */
	#sendProgress(envelope: Envelope, {token}: Playback): void {
		const range = memberRange(envelope.line, 'params', 'progressToken');
		if (token === undefined || !range) return;
		this.incoming.next(Envelope.received(envelope.withTextAt(range, token).line, this.#origin));
	}

	/** Sends a recorded server request to the live client, under a unique id. */
	#sendServerRequest(
		message: RecordedMessage,
		envelope: Envelope,
		{serverRequests, stop: {signal}}: Playback,
	): void {
		const id = JSON.stringify(`replay-${++this.#serverRequestCount}`);
		let resolveResponse = (): void => {};
		const timedOut = sleep(CLIENT_RESPONSE_TIMEOUT_MS, undefined, {ref: false, signal}).catch(() => {});
		const response = new Promise<void>(resolve => {
			resolveResponse = resolve;
		});
		this.#pendingServerRequests.set(canonicalId(id), resolveResponse);
		serverRequests.set(
			message,
			Promise.race([response, timedOut]).then(() => void this.#pendingServerRequests.delete(canonicalId(id))),
		);
		this.incoming.next(envelope.forwardedAs(this.#origin, id));
	}

	#onCancelled(envelope: Envelope): void {
		const id = memberText(envelope.line, 'params', 'requestId');
		const key = id === undefined ? '' : canonicalId(id);
		this.#playbacks.get(key)?.stop.abort();
		this.#playbacks.delete(key);
	}
}
