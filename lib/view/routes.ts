import type {IncomingMessage, ServerResponse} from 'node:http';
import {throttleTime} from 'rxjs';
import {type Refused, refuse} from '../http/refuse.js';
import {splitTarget} from '../http/target.js';
import {SseStream} from '../transports/sse-stream.js';
import {Assets, guarded} from './assets.js';
import {exportLines} from './export.js';
import {filterOf} from './filter.js';
import {latencyOverTime} from './latency.js';
import {lineOf} from './line.js';
import {numberIn, QueryError} from './query.js';
import {listedRow} from './row-text.js';
import type {Shown, Source} from './source.js';
import {stateOf} from './state.js';

/** How often the page is told how things are. */
const TOLD_EVERY_MS = 200;
const MAX_ROWS = 500;
const MAX_PARTS = 1000;
const MAX_CONNECTIONS = 500;
const MAX_UNREAD = 4 * 2 ** 20;

export type ViewRoutesOptions = {
	readonly source: Source;
	/** The folder with the files of the page. */
	readonly page: URL;
	/** Whether there is a /status beside it, of services. */
	readonly hasStatus: boolean;
	/** The origin of the gateway whose traffic it is, where that is another than the origin of the page. */
	readonly gateway?: string | undefined;
	/** Whether there is a login, and so a logout button. */
	readonly canLogOut?: () => boolean;
};

type Answer = (shown: Shown, query: URLSearchParams, res: ServerResponse) => unknown;

/** What the page asks for beside its own files: all of it is only to be read. */
export class ViewRoutes {
	readonly #source: Source;
	readonly #assets: Assets;
	readonly #hasStatus: boolean;
	readonly #gateway: string | null;
	readonly #canLogOut: () => boolean;

	constructor({source, page, hasStatus, gateway, canLogOut = () => false}: ViewRoutesOptions) {
		this.#gateway = gateway ?? null;
		this.#canLogOut = canLogOut;
		this.#source = source;
		this.#assets = new Assets(page);
		this.#hasStatus = hasStatus;
	}

	/** Answers with the page itself. */
	readonly page = (res: ServerResponse): void => {
		if (!this.#assets.serve(res, 'index.html'))
			refuse(res, {status: 500, message: 'The files of the page are missing: is bridge built whole?'});
	};

	/** Answers a request for a path below /view/. */
	serve(req: IncomingMessage, res: ServerResponse): Refused | undefined {
		if (req.method !== 'GET') return {status: 405, message: 'Method Not Allowed', headers: {allow: 'GET'}};
		const {path, query} = splitTarget(req.url ?? '');
		const name = path.slice('/view/'.length);
		if (this.#assets.serve(res, name)) return;
		if (name === 'events') return this.#events(res);
		const answer = answers.get(name);
		if (!answer) return notFound;
		const {shown, generation} = this.#source;
		if (!shown) return {status: 409, message: 'There is nothing to be seen. Open the page first.'};
		try {
			const value = answer(shown, query, res);
			if (value === undefined) return notFound;
			if (value instanceof Promise) this.#later(res, generation, value);
			else if (value !== res) json(res, {generation, ...(value as object)});
			return;
		} catch (error) {
			if (error instanceof QueryError) return {status: 400, message: `Bad Request: ${error.message}`};
			throw error;
		}
	}

	/** Responds when a value is there; undefined is the result of a response that cannot be sent any more. */
	#later(res: ServerResponse, generation: number, value: Promise<object | undefined>): void {
		value.then(
			found => found && json(res, {generation, ...found}),
			(error: Error) => res.destroy(error),
		);
	}

	close(): Promise<void> {
		return this.#source.close();
	}

	/** Tells how things are, whenever something is new. */
	#events(res: ServerResponse): undefined {
		const source = this.#source;
		const unwatch = source.watch();
		const stream = new SseStream(res, {headers: guarded, maxUnreadBytes: MAX_UNREAD});
		const tell = (): void => {
			const around = {hasStatus: this.#hasStatus, gateway: this.#gateway, canLogOut: this.#canLogOut()};
			stream.send({data: Buffer.from(JSON.stringify({...stateOf(source), ...around}))});
		};
		tell();
		const news = source.changed
			.pipe(throttleTime(TOLD_EVERY_MS, undefined, {leading: true, trailing: true}))
			.subscribe(tell);
		void stream.closed.then(() => {
			news.unsubscribe();
			unwatch();
		});
		return;
	}
}

const notFound: Refused = {status: 404, message: 'Not Found'};

const answers: ReadonlyMap<string, Answer> = new Map<string, Answer>([
	['rows', rows],
	['line', ({index}, query) => lineOf(index, numberIn(query, 'row'))],
	['place', ({matches}, query) => ({place: matches.of(filterOf(query)).placeOf(numberIn(query, 'row'))})],
	['latency', latency],
	['connections', connections],
	['export', exportLines],
]);

function rows({index, matches}: Shown, query: URLSearchParams) {
	const found = matches.of(filterOf(query));
	const from = numberIn(query, 'from');
	const end = Math.min(found.count, from + Math.min(MAX_ROWS, numberIn(query, 'count')));
	const list = Array.from({length: Math.max(0, end - from)}, (_, at) =>
		listedRow(index, found.row(from + at)),
	);
	return {total: found.count, share: found.share, from, rows: list};
}

function latency({index, matches}: Shown, query: URLSearchParams, res: ServerResponse) {
	const parts = Math.max(1, Math.min(MAX_PARTS, numberIn(query, 'parts')));
	const filter = filterOf(query);
	return latencyOverTime(index, matches.of(filter), {
		parts,
		ofRequests: filter.show === 'requests',
		isWanted: () => !res.destroyed,
	});
}

/** The connections that came last. */
function connections({index}: Shown) {
	const list = index.connections.slice(1).slice(-MAX_CONNECTIONS).reverse();
	return {connections: list, total: index.connections.length - 1};
}

function json(res: ServerResponse, value: unknown): void {
	const body = Buffer.from(JSON.stringify(value));
	res.writeHead(200, {...guarded, 'content-type': 'application/json', 'content-length': body.length});
	res.end(body);
}
