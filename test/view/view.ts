import type {ExecutionContext} from 'ava';
import type {LatencyOverTime, LineDetail, ListedRows, ViewState} from '../../lib/view/page/types.js';
import type {Running} from '../helpers/bridge.js';
import {start, until} from '../helpers/program.js';

/** A client of the page API of `bridge view`. */
export class View {
	readonly running: Running;
	readonly url: URL;
	readonly #cookie: string;

	constructor(running: Running, url: URL, cookie: string) {
		this.running = running;
		this.url = url;
		this.#cookie = cookie;
	}

	fetch(path: string, init: RequestInit = {}): Promise<Response> {
		return fetch(new URL(path, this.url), {headers: {cookie: this.#cookie}, ...init});
	}

	async #json<T>(path: string): Promise<T> {
		const response = await this.fetch(path);
		if (!response.ok) throw new Error(`${path}: ${response.status}`);
		return (await response.json()) as T;
	}

	rows(query = ''): Promise<ListedRows> {
		return this.#json(`/view/rows?count=500&${query}`);
	}

	line(row: number): Promise<LineDetail> {
		return this.#json(`/view/line?row=${row}`);
	}

	latency(query: string): Promise<LatencyOverTime> {
		return this.#json(`/view/latency?parts=10${query}`);
	}

	/** Waits until all rows were scanned and `total` of them match, then returns them. */
	async found(query: string, total: number): Promise<ListedRows> {
		await until(async () => {
			const {share, total: found} = await this.rows(query);
			return share === 1 && found === total;
		});
		return this.rows(query);
	}

	/** Returns the first state of the page. */
	async state(): Promise<ViewState> {
		const stop = new AbortController();
		const response = await this.fetch('/view/events', {signal: stop.signal, headers: {cookie: this.#cookie}});
		const reader = response.body?.getReader();
		const {value} = (await reader?.read()) ?? {};
		stop.abort();
		return JSON.parse(/data: (.*)/.exec(new TextDecoder().decode(value))?.[1] ?? '') as ViewState;
	}
}

/** Starts `bridge view` and logs in. */
export async function startView(t: ExecutionContext, ...args: readonly string[]): Promise<View> {
	const running = start(t, ['view', ...args]);
	const [line = ''] = await running.hasLines(1);
	const url = new URL(line);
	const response = await fetch(url, {redirect: 'manual'});
	return new View(running, url, response.headers.get('set-cookie')?.split(';', 1)[0] ?? '');
}
