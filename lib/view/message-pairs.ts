import {BoundedMap} from '../util/bounded-map.js';
import {type IndexColumns, rowFlags} from './index-columns.js';

/** Maximum number of pending requests of all connections. The oldest is evicted first. */
const MAX_PENDING = 100_000;
/** Maximum number of client messages whose upstream copy may still follow. */
const MAX_UNMATCHED = 10_000;

/** The rows of a request on both sides of bridge. */
type PendingRequestRows = {client?: number; upstream?: number; hasResponse: boolean};

type MessageOrigin = {
	readonly isFromClient: boolean;
	readonly isUpstream: boolean;
	readonly isByBridge: boolean;
};

/**
 * Links responses to their requests, and lines that record the same message on both sides of bridge. See
 * operators/record.ts for when and in which order a message is recorded twice.
 */
export class MessagePairs {
	readonly #columns: IndexColumns;
	readonly #pending = new BoundedMap<string, PendingRequestRows>(MAX_PENDING);
	readonly #unmatched = new BoundedMap<string, number>(MAX_UNMATCHED);

	constructor(columns: IndexColumns) {
		this.#columns = columns;
	}

	/** Adds a request. */
	addRequest(row: number, conn: number, id: string): void {
		const {isFromClient, isUpstream, isByBridge} = this.#originOf(row);
		const key = `${conn} ${isFromClient} ${id}`;
		const side = isUpstream ? 'upstream' : 'client';
		const existing = this.#pending.get(key);
		// A reused id is a new request. A record on the second side is the same request.
		if (!existing || existing.hasResponse || existing[side] !== undefined || isByBridge) {
			this.#pending.set(key, {[side]: row, hasResponse: false});
			return;
		}
		existing[side] = row;
		this.#linkTwins(existing.client, existing.upstream);
	}

	/** Adds a response and returns the row of its request. */
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
		pending.hasResponse = true;
		// If both sides recorded a response, the one on the side of the requester comes last.
		const isLast = isFromClient === isUpstream || (isFromClient ? upstream : client) === undefined;
		if (isLast) this.#pending.delete(key);
		return request;
	}

	/** Adds a notification. */
	addNotification(row: number, conn: number, method: number): void {
		this.#matchOtherSide(row, `${conn} method ${method}`, this.#originOf(row));
	}

	/** Links a message to its record on the other side. */
	#matchOtherSide(row: number, key: string, {isFromClient, isUpstream, isByBridge}: MessageOrigin): void {
		if (isByBridge) return;
		if (!isFromClient) {
			// Messages of an upstream are recorded on both sides consecutively.
			const before = row - 1;
			if (!isUpstream && row > 0 && this.#isUpstreamCopy(before, row)) this.#linkTwins(row, before);
		} else if (isUpstream) this.#linkTwins(this.#unmatched.take(key), row);
		else this.#unmatched.set(key, row);
	}

	/**
	 * Whether the row before is of the same connection, direction and kind, and was recorded on the upstream
	 * side.
	 */
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
