import {model, type PageFilter} from './model.js';
import type {LatencyOverTime, LineDetail, ListedConnection, ListedRows, ViewState} from './types.js';

/** Converts a filter to a URL query. Default values are omitted. */
export function filterQuery(filter: PageFilter): URLSearchParams {
	const entries = Object.entries(filter).filter(([, value]) => value !== '' && value !== 'all');
	return new URLSearchParams(entries as Array<[string, string]>);
}

async function fetchJson<T>(name: string, query: URLSearchParams): Promise<T> {
	const response = await fetch(`/view/${name}?${query}`);
	if (!response.ok) throw new Error(`${name}: ${response.status}`);
	return response.json() as Promise<T>;
}

const queryWith = (filter: PageFilter, numbers: {readonly [name: string]: number}): URLSearchParams => {
	const query = filterQuery(filter);
	for (const [name, value] of Object.entries(numbers)) query.set(name, String(value));
	return query;
};

export const fetchRows = (filter: PageFilter, from: number, count: number): Promise<ListedRows> =>
	fetchJson('rows', queryWith(filter, {from, count}));

export const fetchLine = (row: number): Promise<LineDetail> =>
	fetchJson('line', new URLSearchParams({row: String(row)}));

/** Returns the position of a row among the rows that match a filter. */
export const fetchPosition = (filter: PageFilter, row: number): Promise<{readonly place: number}> =>
	fetchJson('place', queryWith(filter, {row}));

export const fetchLatency = (filter: PageFilter, parts: number): Promise<LatencyOverTime> =>
	fetchJson('latency', queryWith(filter, {parts}));

export const fetchConnections = (): Promise<{
	readonly connections: readonly ListedConnection[];
	readonly total: number;
}> => fetchJson('connections', new URLSearchParams());

/** Subscribes to state updates. The browser reconnects by itself. */
export function subscribeToState(): void {
	const events = new EventSource('/view/events');
	events.addEventListener('message', ({data}) => model.setState(JSON.parse(data) as ViewState));
	events.addEventListener('error', () => {
		if (model.state)
			model.setState({...model.state, note: 'The connection to bridge was lost. Reconnecting.'});
	});
}
