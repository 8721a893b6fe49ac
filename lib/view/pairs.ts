import {BoundedMap} from '../bounded-map.js';
import {type Columns, flags} from './columns.js';

/** Requests that have no answer yet, of all connections. The oldest is forgotten for the next. */
const MAX_OPEN = 100_000;
/** Messages of clients that may yet turn up as their servers saw them. */
const MAX_UNMATCHED = 10_000;

/** A request as either side saw it, as row numbers. */
type Asked = {client?: number; upstream?: number; isAnswered: boolean};

type Place = {readonly isFromClient: boolean; readonly isUpstream: boolean; readonly isByBridge: boolean};

/**
 * Finds out which answer belongs to which request, and which lines show the same message on both sides of bridge: see
 * operators/record.ts for when there are two, and in which order.
 */
export class Pairs {
	readonly #columns: Columns;
	readonly #open = new BoundedMap<string, Asked>(MAX_OPEN);
	readonly #unmatched = new BoundedMap<string, number>(MAX_UNMATCHED);

	constructor(columns: Columns) {
		this.#columns = columns;
	}

	/** A request, from one side of a connection to the other. */
	asked(row: number, conn: number, id: string): void {
		const {isFromClient, isUpstream, isByBridge} = this.#placeOf(row);
		const key = `${conn} ${isFromClient} ${id}`;
		const side = isUpstream ? 'upstream' : 'client';
		const known = this.#open.get(key);
		// An id may be used again. What is seen on the second side is the same request still.
		if (!known || known.isAnswered || known[side] !== undefined || isByBridge) {
			this.#open.set(key, {[side]: row, isAnswered: false});
			return;
		}
		known[side] = row;
		this.#twins(known.client, known.upstream);
	}

	/** An answer. Returns the row of its request. */
	answered(row: number, conn: number, id: string): number | undefined {
		const place = this.#placeOf(row);
		const {isFromClient, isUpstream} = place;
		const key = `${conn} ${!isFromClient} ${id}`;
		const asked = this.#open.get(key);
		this.#match(row, `${conn} ${id}`, place);
		if (!asked) return;
		const {client, upstream} = asked;
		const request = isUpstream ? (upstream ?? client) : (client ?? upstream);
		for (const each of [client, upstream])
			if (each !== undefined && (each === request || this.#columns.value(each, 'pair') === 0))
				this.#columns.set(each, 'pair', row + 1);
		if (request !== undefined) this.#columns.set(row, 'pair', request + 1);
		asked.isAnswered = true;
		// Where both sides have seen an answer, the one for the asking side comes last.
		const isLast = isFromClient === isUpstream || (isFromClient ? upstream : client) === undefined;
		if (isLast) this.#open.delete(key);
		return request;
	}

	/** Something that nobody answers. */
	told(row: number, conn: number, method: number): void {
		this.#match(row, `${conn} method ${method}`, this.#placeOf(row));
	}

	/** Finds the line of the same message on the other side. */
	#match(row: number, key: string, {isFromClient, isUpstream, isByBridge}: Place): void {
		if (isByBridge) return;
		if (!isFromClient) {
			// What a server said is logged on both sides at once.
			const before = row - 1;
			if (!isUpstream && row > 0 && this.#isOther(before, row)) this.#twins(row, before);
		} else if (isUpstream) this.#twins(this.#unmatched.take(key), row);
		else this.#unmatched.set(key, row);
	}

	/** Whether a line is of the same connection and direction and kind as another, and was seen on the upstream's side. */
	#isOther(before: number, row: number): boolean {
		const columns = this.#columns;
		const place = this.#placeOf(before);
		return (
			columns.value(before, 'conn') === columns.value(row, 'conn') &&
			columns.value(before, 'kind') === columns.value(row, 'kind') &&
			place.isUpstream &&
			!place.isFromClient
		);
	}

	#twins(row: number | undefined, other: number | undefined): void {
		if (row === undefined || other === undefined) return;
		this.#columns.set(row, 'twin', other + 1);
		this.#columns.set(other, 'twin', row + 1);
	}

	#placeOf(row: number): Place {
		const bits = this.#columns.value(row, 'flags');
		return {
			isFromClient: (bits & flags.fromClient) !== 0,
			isUpstream: (bits & flags.upstreamSide) !== 0,
			isByBridge: (bits & flags.byBridge) !== 0,
		};
	}
}
