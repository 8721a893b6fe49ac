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
/** A client's session over streamable HTTP: what it posts, and the streams on which it hears. */
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
	#resolveGone: () => void = () => {};

	constructor(options: HttpSessionOptions) {
		this.#options = options;
		this.name = options.name;
		this.#streamCount = options.streamsBefore ?? 0;
		this.#onSlow = logSlowClient(options);
		this.#getStreams = new GetStreams(options);
		this.#slowReplies = new SlowReplies(() => this.#replies.values(), options.streamDelayMs);
		this.#backlog = new MessageBacklog(options.name, options.log);
		this.disconnected = new Promise(resolve => {
			this.#resolveGone = resolve;
		});
	}

	/** Whether the upstream takes no more at the moment. */
	get isHeldBack(): boolean {
		return !this.#valve.isOpen;
	}

	/** Whether somebody waits for an answer, or listens. */
	get isInUse(): boolean {
		return this.#replies.size > 0 || this.#getStreams.connected !== undefined;
	}

	get pendingCount(): number {
		return this.#replies.size;
	}

	/** Takes a message that was posted. It is answered when there is an answer, and at once where there is none to come. */
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
		// What is no message has no answer if it cannot be told whom to give it.
		const {flaw} = envelope.head;
		if (flaw !== undefined && flaw !== 'a batch' && this.#replies.has(origin.number)) {
			this.#replies.remove(reply);
			sendHttpError(response, {status: 400, code: -32600, message: 'Invalid Request'});
		}
	}

	/** A client that disconnects before it has the response to its initialize has no session. */
	#watchDelivery(reply: HttpReply, number: number, response: ServerResponse): void {
		const canResume = (): boolean => reply.isStarted && this.#replies.has(number);
		onceUndelivered(response, canResume, () => {
			if (this.#isOver) return;
			logUndelivered(this.#options);
			this.#options.onUndelivered?.();
		});
	}

	/** What its client gave up a server need not answer, but the POST has to end. */
	#completeCancelled(id: string | undefined): void {
		const reply = this.#replies.findById(id);
		// A handshake cannot be given up.
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
			takesPriming: this.#takesPriming,
		});
		this.#replies.add(number, reply);
		this.#slowReplies.watch(reply);
		return reply;
	}

	/** The client learns the id of its session with the answer that begins it, unless that is a refusal. */
	readonly #responseHeaders = ({head: {method}}: Envelope, answer: Envelope | undefined): Headers =>
		method === 'initialize' && !answer?.head.hasError
			? {'mcp-session-id': this.#options.id(answer)}
			: noHeaders;

	readonly #takesPriming = (): boolean => acceptsPrimingEvent(this.#options.version());

	#streamOptions() {
		const {keepAliveMs, shared, upstream} = this.#options;
		const common = {buffer: this.#buffer, shared, upstream, keepAliveMs, onSlow: this.#onSlow};
		return {...common, number: ++this.#streamCount};
	}

	/** Lets the client hear what is said to it of the server's accord, or the rest of a stream that it had lost. */
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

	/** Begins a stream, with what the client missed of another one. */
	#beginGetStream(response: ServerResponse, lastEvent: EventId | undefined, missed: readonly Buffer[]): void {
		if (lastEvent) logLostEvents(this.#options, lastEvent.stream);
		const stream = this.#getStreams.begin(response, this.#streamOptions(), missed);
		if (stream) this.#sendBacklog(stream);
	}

	/** The client is to listen elsewhere from now on. */
	sendAway(): void {
		this.#getStreams.endWithRetry();
	}

	/** Says what nobody was there to hear. */
	#sendBacklog(stream: ResumableStream): void {
		for (const envelope of this.#backlog.takeAll()) stream.send(envelope);
	}

	#findStream(number: number): ResumableStream | undefined {
		const reply = [...this.#replies.values()].find(({stream}) => stream.number === number);
		return reply?.stream ?? this.#getStreams.find(number) ?? this.#endedStream(number);
	}

	/** A stream that is complete, but that the client may not have seen the end of. */
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
			this.#options.log.debug('http.answer.late', `An answer to ${this.name} came too late.`);
			return;
		}
		this.#replies.remove(reply);
		reply.complete(envelope);
		const isSessionStarted = reply.request.head.method !== 'initialize' || !envelope.head.hasError;
		// A client that hears 404 begins anew; one whose first word was refused has no session.
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

	/** The conversation is over: whoever still waits, waits for nothing. */
	#end(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#slowReplies.stop();
		for (const reply of this.#replies.values()) reply.rejectSessionClosed();
		this.#getStreams.end();
		this.#replies.clear();
		this.#resolveGone();
	}

	async close(): Promise<void> {
		this.incoming.complete();
		this.#end();
	}
}
