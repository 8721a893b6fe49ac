import {rowFlags, rowKinds} from './index-columns.js';
import type {LogIndex} from './log-index.js';

/** The criteria of a filter. Undefined criteria match all rows. */
export type RowFilter = {
	readonly method: string | undefined;
	readonly server: string | undefined;
	readonly conn: string | undefined;
	/** A text in the message, case-insensitive. */
	readonly text: string | undefined;
	readonly show: 'all' | 'requests' | 'errors' | 'messages';
};

const showValues = ['all', 'requests', 'errors', 'messages'] as const;
const MAX_TEXT = 1000;

/** Parses the filter from the query of the page. */
export function parseRowFilter(query: URLSearchParams): RowFilter {
	const parameter = (name: string): string | undefined => query.get(name)?.slice(0, MAX_TEXT) || undefined;
	return {
		method: parameter('method'),
		server: parameter('server'),
		conn: parameter('conn'),
		text: parameter('text'),
		show: showValues.find(known => known === query.get('show')) ?? 'all',
	};
}

/** A key that is equal for equal filters. */
export const filterKey = ({method, server, conn, text, show}: RowFilter): string =>
	JSON.stringify([method, server, conn, text, show]);

export const matchesAllRows = (filter: RowFilter): boolean =>
	filterKey(filter) === filterKey(parseRowFilter(new URLSearchParams()));

/** Returns a predicate for all criteria except the text, which is not in the index. */
export function rowPredicate(index: LogIndex, filter: RowFilter): (row: number) => boolean {
	const {columns} = index;
	const {method, server, conn, show} = filter;
	const methodIs = numberPredicate(index.methods, name => name === method);
	const connIs = numberPredicate(
		index.connections,
		found =>
			(conn === undefined || found?.id === conn) && (server === undefined || found?.upstream === server),
	);
	return row => {
		if (!matchesShow(columns.value(row, 'kind'), columns.value(row, 'flags'), show)) return false;
		if (method !== undefined && !methodIs(columns.value(row, 'method'))) return false;
		return (server === undefined && conn === undefined) || connIs(columns.value(row, 'conn'));
	};
}

function matchesShow(kind: number, bits: number, show: RowFilter['show']): boolean {
	if (show === 'requests') return kind === rowKinds.request;
	if (show === 'errors')
		return kind === rowKinds.error || kind === rowKinds.broken || (bits & rowFlags.toolFailed) !== 0;
	return show === 'all' || kind > rowKinds.data;
}

/**
 * Returns a predicate for numbers of interned names. Each name is matched once, including names added later.
 */
function numberPredicate<T>(
	names: readonly T[],
	matches: (name: T | undefined) => boolean,
): (number: number) => boolean {
	const results: boolean[] = [];
	return number => {
		while (results.length <= number && results.length < names.length)
			results.push(matches(names[results.length]));
		return number !== 0 && results[number] === true;
	};
}
