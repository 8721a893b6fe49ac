import type {ServerResponse} from 'node:http';
import {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import type {SseEventInit} from '../../wire/sse.js';
import {SseStream} from '../sse/sse-stream.js';
import {type EventId, formatEventId} from './event-buffer.js';
import type {ReplicatedStreams, StreamSnapshot} from './replicated-streams.js';
import {logLostEvents, logSlowClient, type StreamLogContext} from './stream-log.js';

/** More than a replica needs to find a store that was away, and to tell it what it waits for. */
const MAX_MISSED_POLLS = 10;

type ResumeFromReplicaOptions = StreamLogContext & {
	readonly shared: ReplicatedStreams;
	/** Where it is noted what was heard of the server's own stream. */
	readonly upstream?: {heard: string | undefined} | undefined;
	readonly keepAliveMs?: number | undefined;
};

type ResumedResponse = EventId & {readonly about: string};

/**
 * Goes on with a stream that another replica began, for a client that has come here for the rest of it.
 *
 * An answer is told to its end, as it comes there: `resumed`. Of what a server says of its own accord, all that was missed is
 * returned, to be said on a stream that begins here: it goes on wherever the client listens. Nothing is returned if nothing
 * is known of the stream.
 */
export async function resumeFromReplica(
	response: ServerResponse,
	{stream, sequence: place}: EventId,
	options: ResumeFromReplicaOptions,
): Promise<readonly Buffer[] | 'resumed' | undefined> {
	const snapshot = await options.shared.readAfter(stream, place);
	if (response.destroyed) return 'resumed';
	if (!snapshot?.metadata) return;
	if (!snapshot.isComplete) logLostEvents(options, stream);
	const {about: requestId, upstream} = snapshot.metadata;
	if (requestId === undefined) {
		options.shared.announceMoved(stream);
		if (options.upstream && upstream) options.upstream.heard = upstream.heard;
		return snapshot.events.map(({data}) => data);
	}
	new ReplicaResponseStream(response, {stream, sequence: place, about: requestId}, options).send(snapshot);
	return 'resumed';
}

/** An answer that another replica gives, on its way to a client that asks for it here. */
class ReplicaResponseStream {
	readonly #stream: number;
	readonly #requestId: string;
	readonly #shared: ReplicatedStreams;
	readonly #connection: SseStream;
	readonly #stop: () => void;
	#lastEvent: number;
	#isPolling = false;
	/** Looks in a row at which nobody was known to wait for the answer. */
	#missedPolls = 0;

	constructor(
		response: ServerResponse,
		{stream, sequence: place, about: requestId}: ResumedResponse,
		options: ResumeFromReplicaOptions,
	) {
		const {shared, keepAliveMs} = options;
		this.#stream = stream;
		this.#lastEvent = place;
		this.#requestId = requestId;
		this.#shared = shared;
		this.#connection = new SseStream(response, {
			onSlow: logSlowClient(options),
			...(keepAliveMs === undefined ? {} : {keepAliveMs}),
		});
		this.#stop = shared.watch(stream, () => void this.#poll());
		void this.#connection.closed.then(this.#stop);
	}

	send({events, end}: StreamSnapshot): void {
		for (const event of events) {
			if (event.sequence <= this.#lastEvent) continue;
			this.#lastEvent = event.sequence;
			this.#connection.send(messageOf(this.#stream, event));
		}
		if (end === undefined) return;
		// The answer, which is the last event, was too long to be kept, or came while the store was away.
		if (this.#lastEvent < end) this.#abandon();
		else this.#end();
	}

	async #poll(): Promise<void> {
		if (this.#isPolling) return;
		this.#isPolling = true;
		const snapshot = await this.#shared.readAfter(this.#stream, this.#lastEvent);
		if (snapshot && this.#connection.isOpen) {
			this.send(snapshot);
			if (this.#connection.isOpen && (await this.#isResponseLost(snapshot))) this.#abandon();
		}
		this.#isPolling = false;
	}

	/** Whether there will be no answer: who would have answered is gone, or has done so when nobody could be told. */
	async #isResponseLost({metadata: told, events, isPending: isAwaited}: StreamSnapshot): Promise<boolean> {
		this.#missedPolls = isAwaited ? 0 : this.#missedPolls + 1;
		if (this.#missedPolls >= MAX_MISSED_POLLS) return true;
		return told !== undefined && events.length === 0 && this.#shared.isOrphaned(told);
	}

	#abandon(): void {
		this.#connection.send({data: Envelope.errorResponse(this.#requestId, replicaGoneError).bytes});
		this.#end();
	}

	#end(): void {
		this.#stop();
		this.#connection.end();
	}
}

const messageOf = (
	stream: number,
	{sequence: place, data}: StreamSnapshot['events'][number],
): SseEventInit => ({
	id: formatEventId(stream, place),
	data,
});

const replicaGoneError = new BridgeError(
	'ERR_UPSTREAM_UNREACHABLE',
	'The replica of bridge that waited for this answer is gone, or could not hand it on; nobody knows how much of this was done.',
	'Ask again if it may be done twice.',
);
