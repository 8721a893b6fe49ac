import type {ServerResponse} from 'node:http';
import {Channel} from '../channel.js';
import type {Envelope, Headers} from '../envelope.js';
import {EventBuffer, type Place, placeOf} from '../http/event-buffer.js';
import {refuse} from '../http/refuse.js';
import {rpcStatus} from '../http/rpc-status.js';
import {takesPriming} from '../protocol/http-hop.js';
import type {Endpoint} from '../stage.js';
import {Valve} from '../valve.js';
import {isAsking} from '../wire/asking.js';
import {Backlog} from './backlog.js';
import {EventStream} from './event-stream.js';
import {ifUndelivered} from './first-response.js';
import {givenUp, givenUpBy} from './given-up.js';
import {HttpReply} from './http-reply.js';
import type {HttpSessionOptions, Post} from './http-session-options.js';
import {Listeners} from './listeners.js';
import {OpenReplies} from './open-replies.js';
import {PostOrigin} from './post-origin.js';
import {SignsOfLife} from './signs-of-life.js';
import {streamFor} from './stream-choice.js';
import {lostEvents, slowClient, undelivered} from './stream-notes.js';
import {takeUp} from './take-up.js';

const none: Headers = {};
/** A client's session over streamable HTTP: what it posts, and the streams on which it hears. */
export class HttpSession implements Endpoint {
	readonly name: string;
	readonly incoming = new Channel();
	readonly outgoing = {
		next: (envelope: Envelope): void => this.#deliver(envelope),
		error: (): void => this.#end(),
		complete: (): void => this.#end(),
	};
	readonly gone: Promise<void>;
	readonly #options: HttpSessionOptions;
	readonly #valve = new Valve();
	readonly #buffer = new EventBuffer();
	readonly #backlog: Backlog;
	readonly #replies = new OpenReplies();
	#posts = 0;
	readonly #listeners: Listeners;
	readonly #signs: SignsOfLife;
	#streamCount: number;
	readonly #onSlow: (unreadBytes: number) => void;
	#isOver = false;
	#isGone: () => void = () => {};

	constructor(options: HttpSessionOptions) {
		this.#options = options;
		this.name = options.name;
		this.#streamCount = options.streamsBefore ?? 0;
		this.#onSlow = slowClient(options);
		this.#listeners = new Listeners(options);
		this.#signs = new SignsOfLife(() => this.#replies.values(), options.signAfterMs);
		this.#backlog = new Backlog(options.name, options.log);
		this.gone = new Promise(resolve => {
			this.#isGone = resolve;
		});
	}

	/** Whether the upstream takes no more at the moment. */
	get isHeldBack(): boolean {
		return !this.#valve.isOpen;
	}

	/** Whether somebody waits for an answer, or listens. */
	get isInUse(): boolean {
		return this.#replies.size > 0 || this.#listeners.open !== undefined;
	}

	get unanswered(): number {
		return this.#replies.size;
	}

	/** Takes a message that was posted. It is answered when there is an answer, and at once where there is none to come. */
	post({envelope: received, headers, accepts, response}: Post): void {
		const origin = new PostOrigin(++this.#posts, this.name, this.#valve, headers);
		const envelope = received.cameFrom(origin);
		if (!isAsking(envelope.head, envelope.bytes)) {
			response.writeHead(202, {'content-length': 0}).end();
			this.incoming.next(envelope);
			this.#giveUp(givenUpBy(envelope));
			return;
		}
		const reply = this.#newReply(origin.number, envelope, accepts, response);
		if (envelope.head.method === 'initialize') this.#watchFirst(reply, origin.number, response);
		this.incoming.next(envelope);
		// What is no message has no answer if it cannot be told whom to give it.
		const {flaw} = envelope.head;
		if (flaw !== undefined && flaw !== 'a batch' && this.#replies.has(origin.number)) {
			this.#replies.forget(reply);
			refuse(response, {status: 400, code: -32600, message: 'Invalid Request'});
		}
	}

	/** A client that disconnects before it has the response to its initialize has no session. */
	#watchFirst(reply: HttpReply, number: number, response: ServerResponse): void {
		const mayResume = (): boolean => reply.isBegun && this.#replies.has(number);
		ifUndelivered(response, mayResume, () => {
			if (this.#isOver) return;
			undelivered(this.#options);
			this.#options.onUndelivered?.();
		});
	}

	/** What its client gave up a server need not answer, but the POST has to end. */
	#giveUp(id: string | undefined): void {
		const reply = this.#replies.withId(id);
		// A handshake cannot be given up.
		if (!reply || reply.request.head.method === 'initialize') return;
		this.#replies.forget(reply);
		reply.answer(givenUp(reply.request));
	}

	#newReply(
		number: number,
		request: Envelope,
		accepts: Post['accepts'],
		response: ServerResponse,
	): HttpReply {
		const reply = new HttpReply({
			number: ++this.#streamCount,
			buffer: this.#buffer,
			shared: this.#options.shared,
			about: request.head.id,
			keepAliveMs: this.#options.keepAliveMs,
			onSlow: this.#onSlow,
			response,
			accepts,
			request,
			statusOf: rpcStatus,
			headers: this.#headersFor,
			takesPriming: this.#takesPriming,
		});
		this.#replies.add(number, reply);
		this.#signs.watch(reply);
		return reply;
	}

	/** The client learns the id of its session with the answer that begins it, unless that is a refusal. */
	readonly #headersFor = ({head: {method}}: Envelope, answer: Envelope | undefined): Headers =>
		method === 'initialize' && !answer?.head.hasError ? {'mcp-session-id': this.#options.id(answer)} : none;

	readonly #takesPriming = (): boolean => takesPriming(this.#options.version());

	#streamOptions() {
		const {keepAliveMs, shared, upstream} = this.#options;
		const common = {buffer: this.#buffer, shared, upstream, keepAliveMs, onSlow: this.#onSlow};
		return {...common, number: ++this.#streamCount};
	}

	/** Lets the client hear what is said to it of the server's accord, or the rest of a stream that it had lost. */
	listen(response: ServerResponse, lastEventId: string | undefined): void {
		const place = lastEventId === undefined ? undefined : placeOf(lastEventId);
		const lost = place && this.#streamOf(place.stream);
		if (place && lost) {
			this.#listeners.watch(lost.carryOn(response, {}, false), lost);
			if (!lost.replay(place.place)) lostEvents(this.#options, place.stream);
			if (lost.isOver) lost.end();
			else if (this.#listeners.find(lost.number)) this.#catchUp(lost);
			return;
		}
		const {shared} = this.#options;
		if (!place || !shared) this.#listenAnew(response, place, []);
		else
			void takeUp(response, place, {...this.#options, shared}).then(missed => {
				if (missed === 'taken') return;
				if (this.#isOver) response.destroy();
				else this.#listenAnew(response, missed ? undefined : place, missed ?? []);
			});
	}

	/** Begins a stream, with what the client missed of another one. */
	#listenAnew(response: ServerResponse, lost: Place | undefined, missed: readonly Buffer[]): void {
		if (lost) lostEvents(this.#options, lost.stream);
		const stream = this.#listeners.begin(response, this.#streamOptions(), missed);
		if (stream) this.#catchUp(stream);
	}

	/** The client is to listen elsewhere from now on. */
	sendAway(): void {
		this.#listeners.sendAway();
	}

	/** Says what nobody was there to hear. */
	#catchUp(stream: EventStream): void {
		for (const envelope of this.#backlog.takeAll()) stream.send(envelope);
	}

	#streamOf(number: number): EventStream | undefined {
		const reply = [...this.#replies.values()].find(({stream}) => stream.number === number);
		return reply?.stream ?? this.#listeners.find(number) ?? this.#ended(number);
	}

	/** A stream that is complete, but that the client may not have seen the end of. */
	#ended(number: number): EventStream | undefined {
		if (!this.#buffer.has(number)) return;
		const stream = new EventStream({...this.#streamOptions(), shared: undefined, number});
		stream.isOver = true;
		return stream;
	}

	#deliver(envelope: Envelope): void {
		const {method} = envelope.head;
		if (method !== undefined) {
			this.#say(envelope, method);
			return;
		}
		const reply = this.#replies.of(envelope);
		if (!reply) {
			this.#options.log.debug('http.answer.late', `An answer to ${this.name} came too late.`);
			return;
		}
		this.#replies.forget(reply);
		reply.answer(envelope);
		const isBegun = reply.request.head.method !== 'initialize' || !envelope.head.hasError;
		// A client that hears 404 begins anew; one whose first word was refused has no session.
		if (!isBegun || envelope.origin.refusal?.status === 404) this.#options.onRefused?.();
	}

	#say(envelope: Envelope, method: string): void {
		const replies = [...this.#replies.values()].filter(reply => reply.canStream);
		const reply = streamFor(envelope, method, replies, this.#options.idOf);
		const {open} = this.#listeners;
		if (reply && (!open || reply.isCertain)) reply.reply.say(envelope);
		else if (open) open.send(envelope);
		else this.#backlog.add(envelope);
	}

	/** The conversation is over: whoever still waits, waits for nothing. */
	#end(): void {
		if (this.#isOver) return;
		this.#isOver = true;
		this.#signs.stop();
		for (const reply of this.#replies.values()) reply.drop();
		this.#listeners.end();
		this.#replies.clear();
		this.#isGone();
	}

	async close(): Promise<void> {
		this.incoming.complete();
		this.#end();
	}
}
