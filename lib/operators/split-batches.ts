import {bufferLimit, type EvictableBuffer} from '../core/buffer-limit.js';
import {Envelope, type MessageOrigin} from '../core/envelope.js';
import {BridgeError} from '../core/errors.js';
import type {Log} from '../core/log.js';
import {duplicateIdError} from '../core/requests/pending.js';
import {type Stage, type StageOutputs, type StageSteps, stage} from '../core/stage.js';
import type {Negotiation} from '../protocol/negotiation.js';
import {BATCH_VERSION} from '../protocol/version.js';
import {batchElements, MAX_BATCH} from '../wire/batch.js';
import {exactId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {isResponse} from '../wire/scan.js';

type SplitBatchesOptions = {
	readonly negotiation: Negotiation;
	readonly log: Log;
	readonly maxBytes?: number;
};

const MAX_PENDING_BATCHES = 100;
/** Bytes of responses in incomplete batches. A response over the limit is replaced by an error. */
const MAX_BYTES = 64 * 2 ** 20;

/**
 * Splits a client's batch into single messages, and collects the responses in one array.
 *
 * Other stages and upstreams never see a batch. Few upstreams accept one, even in the protocol version with
 * batches.
 */
export function splitBatches(options: SplitBatchesOptions): Stage {
	return stage(out => new BatchSplitter(options, out));
}

type PendingBatch = {
	/** How many responses are missing, by the exact ids of the requests. */
	readonly missing: Map<string, number>;
	responses: Array<{readonly id: string | undefined; readonly text: string}>;
	/** Bytes of the responses. */
	size: number;
	readonly origin: MessageOrigin;
};

class BatchSplitter implements StageSteps, EvictableBuffer {
	readonly #negotiation: Negotiation;
	readonly #log: Log;
	readonly #out: StageOutputs;
	readonly #maxBytes: number;
	readonly #pending = new Set<PendingBatch>();
	/** Bytes of all buffered responses. */
	#bytes = 0;
	/** The batch whose messages are being forwarded. */
	#current: PendingBatch | undefined;

	constructor({negotiation, log, maxBytes = MAX_BYTES}: SplitBatchesOptions, out: StageOutputs) {
		this.#negotiation = negotiation;
		this.#maxBytes = maxBytes;
		this.#log = log;
		this.#out = out;
		bufferLimit.register(this);
	}

	get bufferedBytes(): number {
		return this.#bytes;
	}

	/** Replaces buffered responses by errors, where these are shorter. */
	evict(): void {
		const error = bufferFull(this.#maxBytes);
		for (const batch of this.#pending) {
			batch.responses = batch.responses.map(response => {
				const text = Envelope.errorResponse(response.id, error, batch.origin).bytes.toString();
				return text.length < response.text.length ? {...response, text} : response;
			});
			this.#bytes -= batch.size;
			batch.size = batch.responses.reduce((sum, {text}) => sum + Buffer.byteLength(text), 0);
			this.#bytes += batch.size;
		}
	}

	readonly toUpstream = (envelope: Envelope): Envelope | undefined => {
		if (this.#pending.size > 0) this.#handleOutsideBatch(envelope);
		if (envelope.head.flaw !== 'a batch') return envelope;
		const texts = batchElements(envelope.bytes, MAX_BATCH);
		const parts = texts?.map(text => envelope.batchElement(text));
		const rejection = this.#rejectionOf(parts);
		if (rejection !== undefined) {
			this.#log.warn('client.message.refused', `${envelope.origin.name} sent a batch that was rejected.`, {
				refusal: rejection,
			});
			this.#out.toClient(Envelope.fromText(rejection, envelope.origin));
		} else if (parts) this.#send(parts, envelope.origin);
		return;
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		if (this.#pending.size === 0) return envelope;
		const {id, method} = envelope.head;
		const batch = method === undefined ? this.#batchOf(id) : undefined;
		if (!batch) return envelope;
		this.#buffer(batch, envelope);
		if (id !== undefined) countDown(batch.missing, id);
		this.#finish(batch);
		return;
	};

	/** Buffers a response until the batch is complete. A response over the limit is replaced by an error. */
	#buffer(batch: PendingBatch, envelope: Envelope): void {
		const isTooMuch = this.#bytes + envelope.size > this.#maxBytes;
		const buffered = isTooMuch
			? Envelope.errorResponse(envelope.head.id, bufferFull(this.#maxBytes), batch.origin)
			: envelope;
		if (isTooMuch)
			this.#log.warn(
				'client.batch.full',
				'A response exceeded the buffer for batch responses and was replaced by an error.',
				{
					bytes: envelope.size,
					limit: this.#maxBytes,
				},
			);
		batch.responses.push({id: envelope.head.id, text: buffered.bytes.toString()});
		bufferLimit.added(buffered.size);
		batch.size += buffered.size;
		this.#bytes += buffered.size;
	}

	/** Handles a message outside a batch while batches are pending. */
	#handleOutsideBatch(envelope: Envelope): void {
		const {id} = envelope.head;
		// Later stages would also reject it, but their error would be attributed to the batch.
		if (id !== undefined && this.#batchOf(id)) throw duplicateIdError(id);
		this.#cancelled(envelope);
	}

	/** Removes a cancelled request from its batch, because it may never get a response. */
	#cancelled(envelope: Envelope): void {
		if (envelope.head.method !== 'notifications/cancelled') return;
		const id = memberText(envelope.bytes, 'params', 'requestId') ?? '""';
		const batch = this.#batchOf(id);
		if (!batch) return;
		countDown(batch.missing, id);
		this.#finish(batch);
	}

	/** The error response to an invalid batch; undefined for a valid one. */
	#rejectionOf(parts: readonly Envelope[] | undefined): string | undefined {
		const {clientVersion: client} = this.#negotiation;
		if (!parts) return invalidRequest('null', `a batch may hold at most ${MAX_BATCH} messages`);
		if (parts.length === 0) return invalidRequest('null', 'a batch must not be empty');
		const hasInitialize = parts.some(({head}) => head.method === 'initialize');
		if (hasInitialize || client === undefined) return notInitializedErrors(parts);
		if (client !== BATCH_VERSION)
			return invalidRequest('null', `JSON-RPC batches are not part of protocol ${client}`);
		if (this.#pending.size >= MAX_PENDING_BATCHES)
			return invalidRequest('null', `${MAX_PENDING_BATCHES} batches are pending already`);
		return;
	}

	#send(parts: readonly Envelope[], origin: MessageOrigin): void {
		const batch: PendingBatch = {missing: new Map(), responses: [], size: 0, origin};
		for (const {head} of parts)
			if (head.id !== undefined && !isResponse(head)) {
				const exact = exactId(head.id);
				batch.missing.set(exact, (batch.missing.get(exact) ?? 0) + 1);
			}
		this.#pending.add(batch);
		this.#current = batch;
		for (const part of parts) {
			this.#cancelled(part);
			this.#out.toUpstream(part);
		}
		this.#current = undefined;
		this.#finish(batch);
	}

	/** The batch of a response. Without an id, it is the batch that is being forwarded. */
	#batchOf(id: string | undefined): PendingBatch | undefined {
		if (id === undefined) return this.#current;
		const exact = exactId(id);
		for (const batch of this.#pending) if (batch.missing.has(exact)) return batch;
		return;
	}

	#finish(batch: PendingBatch): void {
		if (batch.missing.size > 0 || batch === this.#current) return;
		this.#pending.delete(batch);
		this.#bytes -= batch.size;
		if (batch.responses.length === 0) return;
		this.#out.toClient(
			Envelope.fromText(`[${batch.responses.map(({text}) => text).join(',')}]`, batch.origin),
		);
	}
}

function countDown(missing: Map<string, number>, id: string): void {
	const key = exactId(id);
	const remaining = (missing.get(key) ?? 1) - 1;
	if (remaining > 0) missing.set(key, remaining);
	else missing.delete(key);
}

const bufferFull = (limit: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`Buffered batch responses exceed ${limit} bytes, or the buffers of all sessions are full (limits.kept).`,
		'Send fewer requests in one batch, or send this request on its own.',
		{limit},
	);

const invalidRequest = (id: string, message: string): string =>
	`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({code: -32600, message: `Invalid Request: ${message}`})}}`;

/** Errors for each request of a batch that contains initialize or precedes the handshake. */
function notInitializedErrors(parts: readonly Envelope[]): string {
	const requests = parts.filter(({head}) => head.id !== undefined && head.method !== undefined);
	const errors = requests.map(({head: {id = 'null', method}}) =>
		invalidRequest(
			id,
			method === 'initialize' ? 'initialize must not be part of a batch' : 'not initialized',
		),
	);
	return errors.length > 0 ? `[${errors.join(',')}]` : invalidRequest('null', 'not initialized');
}
