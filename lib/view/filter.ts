import {flags, kinds} from './columns.js';
import type {LogIndex} from './log-index.js';

/** Which rows are wanted; each that is not given wants all. */
export type Filter = {
	readonly method: string | undefined;
	readonly server: string | undefined;
	readonly conn: string | undefined;
	/** A text in the message, whatever its case. */
	readonly text: string | undefined;
	readonly show: 'all' | 'requests' | 'errors' | 'messages';
};

const shows = ['all', 'requests', 'errors', 'messages'] as const;
const MAX_TEXT = 1000;

/** Reads a filter as the page asks for it. */
export function filterOf(query: URLSearchParams): Filter {
	const one = (name: string): string | undefined => query.get(name)?.slice(0, MAX_TEXT) || undefined;
	return {
		method: one('method'),
		server: one('server'),
		conn: one('conn'),
		text: one('text'),
		show: shows.find(known => known === query.get('show')) ?? 'all',
	};
}

/** The same for filters that want the same. */
export const keyOf = ({method, server, conn, text, show}: Filter): string =>
	JSON.stringify([method, server, conn, text, show]);

/** Whether all rows are wanted. */
export const isAll = (filter: Filter): boolean => keyOf(filter) === keyOf(filterOf(new URLSearchParams()));

/** Whether a row is wanted, as far as the index alone can tell. */
export function predicate(index: LogIndex, filter: Filter): (row: number) => boolean {
	const {columns} = index;
	const {method, server, conn, show} = filter;
	const methodIs = numbersWhere(index.methods, name => name === method);
	const connIs = numbersWhere(
		index.connections,
		found =>
			(conn === undefined || found?.id === conn) && (server === undefined || found?.upstream === server),
	);
	return row => {
		if (!isShown(columns.value(row, 'kind'), columns.value(row, 'flags'), show)) return false;
		if (method !== undefined && !methodIs(columns.value(row, 'method'))) return false;
		return (server === undefined && conn === undefined) || connIs(columns.value(row, 'conn'));
	};
}

function isShown(kind: number, bits: number, show: Filter['show']): boolean {
	if (show === 'requests') return kind === kinds.request;
	if (show === 'errors')
		return kind === kinds.error || kind === kinds.broken || (bits & flags.toolFailed) !== 0;
	return show === 'all' || kind > kinds.data;
}

/** Whether a name with this number is meant. Names are looked at once, also those that turn up later. */
function numbersWhere<T>(
	names: readonly T[],
	isMeant: (name: T | undefined) => boolean,
): (number: number) => boolean {
	const known: boolean[] = [];
	return number => {
		while (known.length <= number && known.length < names.length) known.push(isMeant(names[known.length]));
		return number !== 0 && known[number] === true;
	};
}
