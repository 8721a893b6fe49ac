import {type Filter, model} from './model.js';
import type {Connection, LatencyOverTime, Line, Rows, State} from './types.js';

/** A filter as it stands in an address. */
export function queryOf(filter: Filter): URLSearchParams {
	const entries = Object.entries(filter).filter(([, value]) => value !== '' && value !== 'all');
	return new URLSearchParams(entries as Array<[string, string]>);
}

async function ask<T>(name: string, query: URLSearchParams): Promise<T> {
	const answer = await fetch(`/view/${name}?${query}`);
	if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
	return answer.json() as Promise<T>;
}

const asked = (filter: Filter, numbers: {readonly [name: string]: number}): URLSearchParams => {
	const query = queryOf(filter);
	for (const [name, value] of Object.entries(numbers)) query.set(name, String(value));
	return query;
};

export const fetchRows = (filter: Filter, from: number, count: number): Promise<Rows> =>
	ask('rows', asked(filter, {from, count}));

export const fetchLine = (row: number): Promise<Line> => ask('line', new URLSearchParams({row: String(row)}));

/** Where a row is among those that a filter lets through. */
export const fetchPlace = (filter: Filter, row: number): Promise<{readonly place: number}> =>
	ask('place', asked(filter, {row}));

export const fetchLatency = (filter: Filter, parts: number): Promise<LatencyOverTime> =>
	ask('latency', asked(filter, {parts}));

export const fetchConnections = (): Promise<{
	readonly connections: readonly Connection[];
	readonly total: number;
}> => ask('connections', new URLSearchParams());

/** Listens to how things are. A browser connects again by itself. */
export function listen(): void {
	const events = new EventSource('/view/events');
	events.addEventListener('message', ({data}) => model.setState(JSON.parse(data) as State));
	events.addEventListener('error', () => {
		if (model.state) model.setState({...model.state, note: 'bridge cannot be reached any more.'});
	});
}
