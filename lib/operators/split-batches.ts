import {Envelope, type Origin} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {type Keeper, keptBytes} from '../kept-bytes.js';
import type {Log} from '../log.js';
import type {Session} from '../protocol/session.js';
import {BATCHES} from '../protocol/version.js';
import {type Outlets, type Stage, type Steps, stage} from '../stage.js';
import {inFlight} from '../waiting-requests.js';
import {elements, MAX_BATCH} from '../wire/batch.js';
import {exactId} from '../wire/id.js';
import {memberText} from '../wire/member.js';
import {isAnswer} from '../wire/scan.js';

export type SplitBatchesOptions = {
	readonly session: Session;
	readonly log: Log;
	/** How many bytes of answers may wait for the others of their batches. */
	readonly maxBytes?: number;
};

/** Batches that may wait for their answers at a time. */
const MAX_OPEN = 100;
/** Bytes of answers that wait for the others of their batches; one that is more than that is replaced by an error. */
const MAX_BYTES = 64 * 2 ** 20;

/**
 * Takes a client's batch apart, so that each message goes its way, and puts the answers together again.
 *
 * Nobody else needs to know of batches, least of all servers: hardly any reads them, even of the version that has them.
 */
export function splitBatches(options: SplitBatchesOptions): Stage {
	return stage(out => new Splitter(options, out));
}

/** A batch whose requests are not all answered. */
type Batch = {
	/** How many responses are missing, by the exact ids of the requests. */
	readonly missing: Map<string, number>;
	answers: Array<{readonly id: string | undefined; readonly text: string}>;
	/** The bytes of these. */
	size: number;
	readonly origin: Origin;
};

class Splitter implements Steps, Keeper {
	readonly #session: Session;
	readonly #log: Log;
	readonly #out: Outlets;
	readonly #maxBytes: number;
	readonly #open = new Set<Batch>();
	/** The bytes of all answers that wait. */
	#bytes = 0;
	/** The batch whose messages are being sent on their way. */
	#current: Batch | undefined;

	constructor({session, log, maxBytes = MAX_BYTES}: SplitBatchesOptions, out: Outlets) {
		this.#session = session;
		this.#maxBytes = maxBytes;
		this.#log = log;
		this.#out = out;
		keptBytes.register(this);
	}

	get keptBytes(): number {
		return this.#bytes;
	}

	/** Replaces buffered responses by errors, where these are shorter. */
	evict(): void {
		const error = tooMuch(this.#maxBytes);
		for (const batch of this.#open) {
			batch.answers = batch.answers.map(answer => {
				const text = Envelope.failure(answer.id, error, batch.origin).bytes.toString();
				return text.length < answer.text.length ? {...answer, text} : answer;
			});
			this.#bytes -= batch.size;
			batch.size = batch.answers.reduce((sum, {text}) => sum + Buffer.byteLength(text), 0);
			this.#bytes += batch.size;
		}
	}

	readonly toUpstream = (envelope: Envelope): Envelope | undefined => {
		if (this.#open.size > 0) this.#beside(envelope);
		if (envelope.head.flaw !== 'a batch') return envelope;
		const texts = elements(envelope.bytes, MAX_BATCH);
		const parts = texts?.map(text => envelope.part(text));
		const refusal = this.#refusal(parts);
		if (refusal !== undefined) {
			this.#log.warn('client.message.refused', `${envelope.origin.name} sent a batch that was not taken.`, {
				refusal,
			});
			this.#out.toClient(Envelope.fromText(refusal, envelope.origin));
		} else if (parts) this.#send(parts, envelope.origin);
		return;
	};

	readonly toClient = (envelope: Envelope): Envelope | undefined => {
		if (this.#open.size === 0) return envelope;
		const {id, method} = envelope.head;
		const batch = method === undefined ? this.#batchOf(id) : undefined;
		if (!batch) return envelope;
		this.#keep(batch, envelope);
		if (id !== undefined) settle(batch.missing, id);
		this.#finish(batch);
		return;
	};

	/** Keeps an answer until the others are there; what is too much is not held, and the client told so. */
	#keep(batch: Batch, envelope: Envelope): void {
		const isTooMuch = this.#bytes + envelope.size > this.#maxBytes;
		const kept = isTooMuch
			? Envelope.failure(envelope.head.id, tooMuch(this.#maxBytes), batch.origin)
			: envelope;
		if (isTooMuch)
			this.#log.warn('client.batch.full', 'An answer did not fit beside the others of its batch.', {
				bytes: envelope.size,
				limit: this.#maxBytes,
			});
		batch.answers.push({id: envelope.head.id, text: kept.bytes.toString()});
		keptBytes.added(kept.size);
		batch.size += kept.size;
		this.#bytes += kept.size;
	}

	/** A message beside a batch that is not answered yet. */
	#beside(envelope: Envelope): void {
		const {id} = envelope.head;
		// It would be refused further on, where nobody can tell that the refusal is not for the batch.
		if (id !== undefined && this.#batchOf(id)) throw inFlight(id);
		this.#cancelled(envelope);
	}

	/** What the client gives up is not answered, and what else was asked with it does not wait for it. */
	#cancelled(envelope: Envelope): void {
		if (envelope.head.method !== 'notifications/cancelled') return;
		const id = memberText(envelope.bytes, 'params', 'requestId') ?? '""';
		const batch = this.#batchOf(id);
		if (!batch) return;
		settle(batch.missing, id);
		this.#finish(batch);
	}

	/** Why a batch is not taken, as the answer to it. */
	#refusal(parts: readonly Envelope[] | undefined): string | undefined {
		const {client} = this.#session;
		if (!parts) return error('null', `a batch may hold at most ${MAX_BATCH} messages`);
		if (parts.length === 0) return error('null', 'a batch must not be empty');
		const hasInitialize = parts.some(({head}) => head.method === 'initialize');
		if (hasInitialize || client === undefined) return notInitialized(parts);
		if (client !== BATCHES) return error('null', `JSON-RPC batches are not part of protocol ${client}`);
		if (this.#open.size >= MAX_OPEN)
			return error('null', `${MAX_OPEN} batches wait for their answers already`);
		return;
	}

	#send(parts: readonly Envelope[], origin: Origin): void {
		const batch: Batch = {missing: new Map(), answers: [], size: 0, origin};
		for (const {head} of parts)
			if (head.id !== undefined && !isAnswer(head)) {
				const exact = exactId(head.id);
				batch.missing.set(exact, (batch.missing.get(exact) ?? 0) + 1);
			}
		this.#open.add(batch);
		this.#current = batch;
		for (const part of parts) {
			this.#cancelled(part);
			this.#out.toUpstream(part);
		}
		this.#current = undefined;
		this.#finish(batch);
	}

	/** What is answered without an id, while a batch is sent, can only be meant for that. */
	#batchOf(id: string | undefined): Batch | undefined {
		if (id === undefined) return this.#current;
		const exact = exactId(id);
		for (const batch of this.#open) if (batch.missing.has(exact)) return batch;
		return;
	}

	#finish(batch: Batch): void {
		if (batch.missing.size > 0 || batch === this.#current) return;
		this.#open.delete(batch);
		this.#bytes -= batch.size;
		if (batch.answers.length === 0) return;
		this.#out.toClient(Envelope.fromText(`[${batch.answers.map(({text}) => text).join(',')}]`, batch.origin));
	}
}

function settle(missing: Map<string, number>, id: string): void {
	const key = exactId(id);
	const left = (missing.get(key) ?? 1) - 1;
	if (left > 0) missing.set(key, left);
	else missing.delete(key);
}

const tooMuch = (limit: number): BridgeError =>
	new BridgeError(
		'ERR_SESSION_BUSY',
		`The answers that wait for the rest of their batches take more than ${limit} bytes, or the buffers of all sessions were full (limits.kept).`,
		'Ask for less in one batch, or ask for this one by itself.',
		{limit},
	);

const error = (id: string, message: string): string =>
	`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({code: -32600, message: `Invalid Request: ${message}`})}}`;

/** The handshake is no matter of batches, and nothing else may come before it. */
function notInitialized(parts: readonly Envelope[]): string {
	const requests = parts.filter(({head}) => head.id !== undefined && head.method !== undefined);
	const errors = requests.map(({head: {id = 'null', method}}) =>
		error(id, method === 'initialize' ? 'initialize must not be part of a batch' : 'not initialized'),
	);
	return errors.length > 0 ? `[${errors.join(',')}]` : error('null', 'not initialized');
}
