import type {ServerResponse} from 'node:http';
import {Channel} from '../../core/channel.js';
import type {Envelope, Headers} from '../../core/envelope.js';
import type {Endpoint} from '../../core/stage.js';
import {Valve} from '../../core/valve.js';
import {sendHttpError} from '../../http/http-error.js';
import {httpStatusOf} from '../../http/rpc-status.js';
import {acceptsPrimingEvent} from '../../protocol/http-headers.js';
import {expectsResponse} from '../../wire/expects-response.js';
import {chooseReply} from './choose-reply.js';
import {EventBuffer, type EventId, parseEventId} from './event-buffer.js';
import {GetStreams} from './get-streams.js';
import {HttpReply} from './http-reply.js';
import type {HttpPost, HttpSessionOptions} from './http-session-options.js';
import {MessageBacklog} from './message-backlog.js';
import {PendingReplies} from './pending-replies.js';
import {PostOrigin} from './post-origin.js';
import {ResumableStream} from './resumable-stream.js';
import {resumeFromReplica} from './resume-from-replica.js';
import {SlowReplies} from './slow-replies.js';
import {logLostEvents, logSlowClient, logUndelivered} from './stream-log.js';
import {onceUndelivered} from './undelivered-response.js';
import {requestCancelledResponse, requestIdCancelledBy} from './unfinished-responses.js';

const noHeaders: Headers = {};

/** A client's session over streamable HTTP: its POSTs, the replies to them, and its GET streams. */
export class HttpSession implements Endpoint {
	readonly name: string;
	readonly incoming = new Channel();
	readonly outgoing = {
		next: (envelope: Envelope): void => this.#deliver(envelope),
		error: (): void => this.#end(),
		complete: (): void => this.#end(),
	};
	readonly disconnected: Promise<void>;
	readonly #options: HttpSessionOptions;
	readonly #valve = new Valve();
	readonly #buffer = new EventBuffer();
	readonly #backlog: MessageBacklog;
	readonly #replies = new PendingReplies();
	#posts = 0;
	readonly #getStreams: GetStreams;
	readonly #slowReplies: SlowReplies;
	#streamCount: number;
	readonly #onSlow: (unreadBytes: number) => void;
	#isOver = false;
	#resolveDisconnected: () => void = () => {};

	constructor(options: HttpSessionOptions) {
		this.#options = options;
		this.name = options.name;
		this.#streamCount = options.streamsBefore ?? 0;
		this.#onSlow = logSlowClient(options);
		this.#getStreams = new GetStreams(options);
		this.#slowReplies = new SlowReplies(() => this.#replies.values(), options.streamDelayMs);
		this.#backlog = new MessageBacklog(options.name, options.log);
		this.disconnected = new Promise(resolve => {
			this.#resolveDisconnected = resolve;
		});
	}

	/** Whether the upstream applies backpressure. */
	get isBackpressured(): boolean {
		return !this.#valve.isOpen;
	}

	/** Whether a request is pending or a GET stream is open. */
	get isInUse(): boolean {
		return this.#replies.size > 0 || this.#getStreams.connected !== undefined;
	}

	get pendingCount(): number {
		return this.#replies.size;
	}

	/** Accepts a POST. Responds with 202 if the message has no response. */
	post({envelope: received, headers, accepts, response}: HttpPost): void {
		const origin = new PostOrigin(++this.#posts, this.name, this.#valve, headers);
		const envelope = received.setOrigin(origin);
		if (!expectsResponse(envelope.head, envelope.bytes)) {
			response.writeHead(202, {'content-length': 0}).end();
			this.incoming.next(envelope);
			this.#completeCancelled(requestIdCancelledBy(envelope));
			return;
		}
		const reply = this.#newReply(origin.number, envelope, accepts, response);
		if (envelope.head.method === 'initialize') this.#watchDelivery(reply, origin.number, response);
		this.incoming.next(envelope);
		// Invalid input without a usable id gets an HTTP error, unless a stage has responded already.
		const {flaw} = envelope.head;
		if (flaw !== undefined && flaw !== 'a batch' && this.#replies.has(origin.number)) {
			this.#replies.remove(reply);
			sendHttpError(response, {status: 400, code: -32600, message: 'Invalid Request'});
		}
	}

	/** Reports a client that disconnects before it has received the response to its `initialize`. */
	#watchDelivery(reply: HttpReply, number: number, response: ServerResponse): void {
		const canResume = (): boolean => reply.isStarted && this.#replies.has(number);
		onceUndelivered(response, canResume, () => {
			if (this.#isOver) return;
			logUndelivered(this.#options);
			this.#options.onUndelivered?.();
		});
	}

	/** Completes the POST of a cancelled request, since the upstream need not respond to it. */
	#completeCancelled(id: string | undefined): void {
		const reply = this.#replies.findById(id);
		// The specification forbids the cancellation of initialize.
		if (!reply || reply.request.head.method === 'initialize') return;
		this.#replies.remove(reply);
		reply.complete(requestCancelledResponse(reply.request));
	}

	#newReply(
		number: number,
		request: Envelope,
		accepts: HttpPost['accepts'],
		response: ServerResponse,
	): HttpReply {
		const reply = new HttpReply({
			number: ++this.#streamCount,
			buffer: this.#buffer,
			shared: this.#options.shared,
			requestId: request.head.id,
			keepAliveMs: this.#options.keepAliveMs,
			onSlow: this.#onSlow,
			response,
			accepts,
			request,
			statusOf: httpStatusOf,
			headers: this.#responseHeaders,
			acceptsPriming: this.#acceptsPriming,
		});
		this.#replies.add(number, reply);
		this.#slowReplies.watch(reply);
		return reply;
	}

	/** The session id is sent with the response to `initialize`, unless that is an error. */
	readonly #responseHeaders = ({head: {method}}: Envelope, response: Envelope | undefined): Headers =>
		method === 'initialize' && !response?.head.hasError
			? {'mcp-session-id': this.#options.id(response)}
			: noHeaders;

	readonly #acceptsPriming = (): boolean => acceptsPrimingEvent(this.#options.version());

	#streamOptions() {
		const {keepAliveMs, shared, upstream} = this.#options;
		const common = {buffer: this.#buffer, shared, upstream, keepAliveMs, onSlow: this.#onSlow};
		return {...common, number: ++this.#streamCount};
	}

	/** Opens a GET stream, or resumes the stream of `lastEventId`. */
	listen(response: ServerResponse, lastEventId: string | undefined): void {
		const lastEvent = lastEventId === undefined ? undefined : parseEventId(lastEventId);
		const stream = lastEvent && this.#findStream(lastEvent.stream);
		if (lastEvent && stream) {
			this.#getStreams.watch(stream.connect(response, {}, false), stream);
			if (!stream.replay(lastEvent.sequence)) logLostEvents(this.#options, lastEvent.stream);
			if (stream.isEnded) stream.end();
			else if (this.#getStreams.find(stream.number)) this.#sendBacklog(stream);
			return;
		}
		const {shared} = this.#options;
		if (!lastEvent || !shared) this.#beginGetStream(response, lastEvent, []);
		else
			void resumeFromReplica(response, lastEvent, {...this.#options, shared}).then(missed => {
				if (missed === 'resumed') return;
				if (this.#isOver) response.destroy();
				else this.#beginGetStream(response, missed ? undefined : lastEvent, missed ?? []);
			});
	}

	#beginGetStream(response: ServerResponse, lastEvent: EventId | undefined, missed: readonly Buffer[]): void {
		if (lastEvent) logLostEvents(this.#options, lastEvent.stream);
		const stream = this.#getStreams.begin(response, this.#streamOptions(), missed);
		if (stream) this.#sendBacklog(stream);
	}

	/** Closes the GET streams, so that the client reconnects, at another replica if this one drains. */
	endStreamsWithRetry(): void {
		this.#getStreams.endWithRetry();
	}

	/** Sends the messages that were queued while the client had no open stream. */
	#sendBacklog(stream: ResumableStream): void {
		for (const envelope of this.#backlog.takeAll()) stream.send(envelope);
	}

	#findStream(number: number): ResumableStream | undefined {
		const reply = [...this.#replies.values()].find(({stream}) => stream.number === number);
		return reply?.stream ?? this.#getStreams.find(number) ?? this.#endedStream(number);
	}

	/** A stream that has ended, but still has buffered events that the client may have missed. */
	#endedStream(number: number): ResumableStream | undefined {
		if (!this.#buffer.has(number)) return;
		const stream = new ResumableStream({...this.#streamOptions(), shared: undefined, number});
		stream.isEnded = true;
		return stream;
	}

	#deliver(envelope: Envelope): void {
		const {method} = envelope.head;
		if (method !== undefined) {
			this.#sendBeforeResponse(envelope, method);
			return;
		}
		const reply = this.#replies.findByResponse(envelope);
		if (!reply) {
			this.#options.log.debug('http.answer.late', `A late response to ${this.name} was dropped.`);
			return;
		}
		this.#replies.remove(reply);
		reply.complete(envelope);
		const isSessionStarted = reply.request.head.method !== 'initialize' || !envelope.head.hasError;
		// After a 404, the client starts a new session. After a failed initialize, it has none.
		if (!isSessionStarted || envelope.origin.errorReply?.status === 404) this.#options.onSessionRejected?.();
	}

	#sendBeforeResponse(envelope: Envelope, method: string): void {
		const replies = [...this.#replies.values()].filter(reply => reply.canStream);
		const reply = chooseReply(envelope, method, replies, this.#options.requestIdOf);
		const {connected: open} = this.#getStreams;
		if (reply && (!open || reply.isCertain)) reply.reply.send(envelope);
		else if (open) open.send(envelope);
		else this.#backlog.add(envelope);
	}

	/** Ends the conversation: fails the pending requests and closes all streams. */
	#end(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#slowReplies.stop();
		for (const reply of this.#replies.values()) reply.rejectSessionClosed();
		this.#getStreams.end();
		this.#replies.clear();
		this.#resolveDisconnected();
	}

	async close(): Promise<void> {
		this.incoming.complete();
		this.#end();
	}
}
