import type {ServerResponse} from 'node:http';
import {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import type {SseEventInit} from '../../wire/sse.js';
import {SseStream} from '../sse/sse-stream.js';
import {type EventId, formatEventId} from './event-buffer.js';
import type {ReplicatedStreams, StreamSnapshot} from './replicated-streams.js';
import {logLostEvents, logSlowClient, type StreamLogContext} from './stream-log.js';

/** Polls before the response is considered lost. Longer than a replica needs to reconnect to the store. */
const MAX_MISSED_POLLS = 10;

type ResumeFromReplicaOptions = StreamLogContext & {
	readonly shared: ReplicatedStreams;
	/** The position in the upstream's GET stream, which is updated from the store. */
	readonly upstream?: {heard: string | undefined} | undefined;
	readonly keepAliveMs?: number | undefined;
};

type ResumedResponse = EventId & {readonly about: string};

/**
 * Resumes a stream that another replica began.
 *
 * The stream of a response is forwarded from that replica to its end; the result is `resumed`. For a GET
 * stream, it is the missed messages, to be sent on a new stream here. An unknown stream yields undefined.
 */
export async function resumeFromReplica(
	response: ServerResponse,
	{stream, sequence}: EventId,
	options: ResumeFromReplicaOptions,
): Promise<readonly Buffer[] | 'resumed' | undefined> {
	const snapshot = await options.shared.readAfter(stream, sequence);
	if (response.destroyed) return 'resumed';
	if (!snapshot?.metadata) return;
	if (!snapshot.isComplete) logLostEvents(options, stream);
	const {about: requestId, upstream} = snapshot.metadata;
	if (requestId === undefined) {
		options.shared.announceMoved(stream);
		if (options.upstream && upstream) options.upstream.heard = upstream.heard;
		return snapshot.events.map(({data}) => data);
	}
	new ReplicaResponseStream(response, {stream, sequence, about: requestId}, options).send(snapshot);
	return 'resumed';
}

/** The stream of a response that another replica sends, forwarded to a client that resumed it here. */
class ReplicaResponseStream {
	readonly #stream: number;
	readonly #requestId: string;
	readonly #shared: ReplicatedStreams;
	readonly #connection: SseStream;
	readonly #stop: () => void;
	#lastEvent: number;
	#isPolling = false;
	/** Consecutive polls that found no replica working on the response. */
	#missedPolls = 0;

	constructor(
		response: ServerResponse,
		{stream, sequence, about: requestId}: ResumedResponse,
		options: ResumeFromReplicaOptions,
	) {
		const {shared, keepAliveMs} = options;
		this.#stream = stream;
		this.#lastEvent = sequence;
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
		// The response, which is the last event, was too large to store, or the store was unavailable.
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

	/**
	 * Whether no response will follow: its replica has exited, or it responded while the store was unavailable.
	 */
	async #isResponseLost({metadata, events, isPending}: StreamSnapshot): Promise<boolean> {
		this.#missedPolls = isPending ? 0 : this.#missedPolls + 1;
		if (this.#missedPolls >= MAX_MISSED_POLLS) return true;
		return metadata !== undefined && events.length === 0 && this.#shared.isOrphaned(metadata);
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

const messageOf = (stream: number, {sequence, data}: StreamSnapshot['events'][number]): SseEventInit => ({
	id: formatEventId(stream, sequence),
	data,
});

const replicaGoneError = new BridgeError(
	'ERR_UPSTREAM_UNREACHABLE',
	'The replica of bridge that handled this request exited or could not store the response. The request may have been executed.',
	'Send the request again if it may run twice.',
);
