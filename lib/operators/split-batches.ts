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
	/** How many bytes of answers may wait for the others of their batches. */
	readonly maxBytes?: number;
};

/** Batches that may wait for their answers at a time. */
const MAX_PENDING_BATCHES = 100;
/** Bytes of answers that wait for the others of their batches; one that is more than that is replaced by an error. */
const MAX_BYTES = 64 * 2 ** 20;

/**
 * Takes a client's batch apart, so that each message goes its way, and puts the answers together again.
 *
 * Nobody else needs to know of batches, least of all servers: hardly any reads them, even of the version that has them.
 */
export function splitBatches(options: SplitBatchesOptions): Stage {
	return stage(out => new BatchSplitter(options, out));
}

/** A batch whose requests are not all answered. */
type PendingBatch = {
	/** How many responses are missing, by the exact ids of the requests. */
	readonly missing: Map<string, number>;
	responses: Array<{readonly id: string | undefined; readonly text: string}>;
	/** The bytes of these. */
	size: number;
	readonly origin: MessageOrigin;
};

class BatchSplitter implements StageSteps, EvictableBuffer {
	readonly #negotiation: Negotiation;
	readonly #log: Log;
	readonly #out: StageOutputs;
	readonly #maxBytes: number;
	readonly #pending = new Set<PendingBatch>();
	/** The bytes of all answers that wait. */
	#bytes = 0;
	/** The batch whose messages are being sent on their way. */
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
			this.#log.warn('client.message.refused', `${envelope.origin.name} sent a batch that was not taken.`, {
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

	/** Keeps an answer until the others are there; what is too much is not held, and the client told so. */
	#buffer(batch: PendingBatch, envelope: Envelope): void {
		const isTooMuch = this.#bytes + envelope.size > this.#maxBytes;
		const buffered = isTooMuch
			? Envelope.errorResponse(envelope.head.id, bufferFull(this.#maxBytes), batch.origin)
			: envelope;
		if (isTooMuch)
			this.#log.warn('client.batch.full', 'An answer did not fit beside the others of its batch.', {
				bytes: envelope.size,
				limit: this.#maxBytes,
			});
		batch.responses.push({id: envelope.head.id, text: buffered.bytes.toString()});
		bufferLimit.added(buffered.size);
		batch.size += buffered.size;
		this.#bytes += buffered.size;
	}

	/** A message beside a batch that is not answered yet. */
	#handleOutsideBatch(envelope: Envelope): void {
		const {id} = envelope.head;
		// It would be refused further on, where nobody can tell that the refusal is not for the batch.
		if (id !== undefined && this.#batchOf(id)) throw duplicateIdError(id);
		this.#cancelled(envelope);
	}

	/** What the client gives up is not answered, and what else was asked with it does not wait for it. */
	#cancelled(envelope: Envelope): void {
		if (envelope.head.method !== 'notifications/cancelled') return;
		const id = memberText(envelope.bytes, 'params', 'requestId') ?? '""';
		const batch = this.#batchOf(id);
		if (!batch) return;
		countDown(batch.missing, id);
		this.#finish(batch);
	}

	/** Why a batch is not taken, as the answer to it. */
	#rejectionOf(parts: readonly Envelope[] | undefined): string | undefined {
		const {clientVersion: client} = this.#negotiation;
		if (!parts) return invalidRequest('null', `a batch may hold at most ${MAX_BATCH} messages`);
		if (parts.length === 0) return invalidRequest('null', 'a batch must not be empty');
		const hasInitialize = parts.some(({head}) => head.method === 'initialize');
		if (hasInitialize || client === undefined) return notInitializedErrors(parts);
		if (client !== BATCH_VERSION)
			return invalidRequest('null', `JSON-RPC batches are not part of protocol ${client}`);
		if (this.#pending.size >= MAX_PENDING_BATCHES)
			return invalidRequest('null', `${MAX_PENDING_BATCHES} batches wait for their answers already`);
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

	/** What is answered without an id, while a batch is sent, can only be meant for that. */
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
		`The answers that wait for the rest of their batches take more than ${limit} bytes, or the buffers of all sessions were full (limits.kept).`,
		'Ask for less in one batch, or ask for this one by itself.',
		{limit},
	);

const invalidRequest = (id: string, message: string): string =>
	`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({code: -32600, message: `Invalid Request: ${message}`})}}`;

/** The handshake is no matter of batches, and nothing else may come before it. */
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
