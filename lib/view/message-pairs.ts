import {BoundedMap} from '../util/bounded-map.js';
import {type IndexColumns, rowFlags} from './index-columns.js';

/** Requests that have no answer yet, of all connections. The oldest is forgotten for the next. */
const MAX_PENDING = 100_000;
/** Messages of clients that may yet turn up as their servers saw them. */
const MAX_UNMATCHED = 10_000;

/** A request as either side saw it, as row numbers. */
type PendingRequestRows = {client?: number; upstream?: number; isAnswered: boolean};

type MessageOrigin = {
	readonly isFromClient: boolean;
	readonly isUpstream: boolean;
	readonly isByBridge: boolean;
};

/**
 * Finds out which answer belongs to which request, and which lines show the same message on both sides of bridge: see
 * operators/record.ts for when there are two, and in which order.
 */
export class MessagePairs {
	readonly #columns: IndexColumns;
	readonly #pending = new BoundedMap<string, PendingRequestRows>(MAX_PENDING);
	readonly #unmatched = new BoundedMap<string, number>(MAX_UNMATCHED);

	constructor(columns: IndexColumns) {
		this.#columns = columns;
	}

	/** A request, from one side of a connection to the other. */
	addRequest(row: number, conn: number, id: string): void {
		const {isFromClient, isUpstream, isByBridge} = this.#originOf(row);
		const key = `${conn} ${isFromClient} ${id}`;
		const side = isUpstream ? 'upstream' : 'client';
		const existing = this.#pending.get(key);
		// An id may be used again. What is seen on the second side is the same request still.
		if (!existing || existing.isAnswered || existing[side] !== undefined || isByBridge) {
			this.#pending.set(key, {[side]: row, isAnswered: false});
			return;
		}
		existing[side] = row;
		this.#linkTwins(existing.client, existing.upstream);
	}

	/** An answer. Returns the row of its request. */
	addResponse(row: number, conn: number, id: string): number | undefined {
		const origin = this.#originOf(row);
		const {isFromClient, isUpstream} = origin;
		const key = `${conn} ${!isFromClient} ${id}`;
		const pending = this.#pending.get(key);
		this.#matchOtherSide(row, `${conn} ${id}`, origin);
		if (!pending) return;
		const {client, upstream} = pending;
		const request = isUpstream ? (upstream ?? client) : (client ?? upstream);
		for (const each of [client, upstream])
			if (each !== undefined && (each === request || this.#columns.value(each, 'pair') === 0))
				this.#columns.set(each, 'pair', row + 1);
		if (request !== undefined) this.#columns.set(row, 'pair', request + 1);
		pending.isAnswered = true;
		// Where both sides have seen an answer, the one for the asking side comes last.
		const isLast = isFromClient === isUpstream || (isFromClient ? upstream : client) === undefined;
		if (isLast) this.#pending.delete(key);
		return request;
	}

	/** Something that nobody answers. */
	addNotification(row: number, conn: number, method: number): void {
		this.#matchOtherSide(row, `${conn} method ${method}`, this.#originOf(row));
	}

	/** Finds the line of the same message on the other side. */
	#matchOtherSide(row: number, key: string, {isFromClient, isUpstream, isByBridge}: MessageOrigin): void {
		if (isByBridge) return;
		if (!isFromClient) {
			// What a server said is logged on both sides at once.
			const before = row - 1;
			if (!isUpstream && row > 0 && this.#isUpstreamCopy(before, row)) this.#linkTwins(row, before);
		} else if (isUpstream) this.#linkTwins(this.#unmatched.take(key), row);
		else this.#unmatched.set(key, row);
	}

	/** Whether a line is of the same connection and direction and kind as another, and was seen on the upstream's side. */
	#isUpstreamCopy(before: number, row: number): boolean {
		const columns = this.#columns;
		const origin = this.#originOf(before);
		return (
			columns.value(before, 'conn') === columns.value(row, 'conn') &&
			columns.value(before, 'kind') === columns.value(row, 'kind') &&
			origin.isUpstream &&
			!origin.isFromClient
		);
	}

	#linkTwins(row: number | undefined, other: number | undefined): void {
		if (row === undefined || other === undefined) return;
		this.#columns.set(row, 'twin', other + 1);
		this.#columns.set(other, 'twin', row + 1);
	}

	#originOf(row: number): MessageOrigin {
		const bits = this.#columns.value(row, 'flags');
		return {
			isFromClient: (bits & rowFlags.fromClient) !== 0,
			isUpstream: (bits & rowFlags.upstreamSide) !== 0,
			isByBridge: (bits & rowFlags.byBridge) !== 0,
		};
	}
}
