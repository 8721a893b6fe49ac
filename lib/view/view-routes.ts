import type {IncomingMessage, ServerResponse} from 'node:http';
import {throttleTime} from 'rxjs';
import {type HttpError, sendHttpError} from '../http/http-error.js';
import {splitTarget} from '../http/target.js';
import {SseStream} from '../transports/sse/sse-stream.js';
import {exportLines} from './export-lines.js';
import {latencyOverTime} from './latency-over-time.js';
import {readLineDetail} from './line-detail.js';
import {buildListedRow} from './listed-row.js';
import {PageAssets, securityHeaders} from './page-assets.js';
import {parseNumberParameter, QueryError} from './query.js';
import {parseRowFilter} from './row-filter.js';
import type {IndexedLog, TrafficSource} from './traffic-source.js';
import {buildViewState} from './view-state.js';

/** Minimum interval of state updates to the page. */
const STATE_INTERVAL_MS = 200;
const MAX_ROWS = 500;
const MAX_PARTS = 1000;
const MAX_CONNECTIONS = 500;
const MAX_UNREAD = 4 * 2 ** 20;

type ViewRoutesOptions = {
	readonly source: TrafficSource;
	/** The folder with the files of the page. */
	readonly page: URL;
	/** Whether the page server has a /status with services. */
	readonly hasStatus: boolean;
	/** The origin of the gateway of the traffic, if it differs from the origin of the page. */
	readonly gateway?: string | undefined;
	/** Whether the page needs a logout button. */
	readonly canLogOut?: () => boolean;
};

type RouteHandler = (shown: IndexedLog, query: URLSearchParams, res: ServerResponse) => unknown;

/** The read-only routes of the page: its files and its API. */
export class ViewRoutes {
	readonly #source: TrafficSource;
	readonly #assets: PageAssets;
	readonly #hasStatus: boolean;
	readonly #gateway: string | null;
	readonly #canLogOut: () => boolean;

	constructor({source, page, hasStatus, gateway, canLogOut = () => false}: ViewRoutesOptions) {
		this.#gateway = gateway ?? null;
		this.#canLogOut = canLogOut;
		this.#source = source;
		this.#assets = new PageAssets(page);
		this.#hasStatus = hasStatus;
	}

	/** Sends the page. */
	readonly servePage = (res: ServerResponse): void => {
		if (!this.#assets.serve(res, 'index.html'))
			sendHttpError(res, {
				status: 500,
				message: 'The files of the page are missing. Run npm run build, or reinstall bridge.',
			});
	};

	/** Handles a request for a path below /view/. */
	serve(req: IncomingMessage, res: ServerResponse): HttpError | undefined {
		if (req.method !== 'GET') return {status: 405, message: 'Method Not Allowed', headers: {allow: 'GET'}};
		const {path, query} = splitTarget(req.url ?? '');
		const name = path.slice('/view/'.length);
		if (this.#assets.serve(res, name)) return;
		if (name === 'events') return this.#serveEvents(res);
		const handler = handlers.get(name);
		if (!handler) return notFound;
		const {indexedLog: shown, generation} = this.#source;
		if (!shown) return {status: 409, message: 'There is no traffic to show. Open the page first.'};
		try {
			const value = handler(shown, query, res);
			if (value === undefined) return notFound;
			if (value instanceof Promise) this.#sendAsync(res, generation, value);
			else if (value !== res) sendJson(res, {generation, ...(value as object)});
			return;
		} catch (error) {
			if (error instanceof QueryError) return {status: 400, message: `Bad Request: ${error.message}`};
			throw error;
		}
	}

	/** Responds when the value is available. Undefined means that the client has disconnected. */
	#sendAsync(res: ServerResponse, generation: number, value: Promise<object | undefined>): void {
		value.then(
			found => found && sendJson(res, {generation, ...found}),
			(error: Error) => res.destroy(error),
		);
	}

	close(): Promise<void> {
		return this.#source.close();
	}

	/** Streams the state to the page whenever it changes. */
	#serveEvents(res: ServerResponse): undefined {
		const source = this.#source;
		const removeViewer = source.addViewer();
		const stream = new SseStream(res, {headers: securityHeaders, maxUnreadBytes: MAX_UNREAD});
		const sendState = (): void => {
			const serverState = {hasStatus: this.#hasStatus, gateway: this.#gateway, canLogOut: this.#canLogOut()};
			stream.send({data: Buffer.from(JSON.stringify({...buildViewState(source), ...serverState}))});
		};
		sendState();
		const subscription = source.changed
			.pipe(throttleTime(STATE_INTERVAL_MS, undefined, {leading: true, trailing: true}))
			.subscribe(sendState);
		void stream.closed.then(() => {
			subscription.unsubscribe();
			removeViewer();
		});
		return;
	}
}

const notFound: HttpError = {status: 404, message: 'Not Found'};

const handlers: ReadonlyMap<string, RouteHandler> = new Map<string, RouteHandler>([
	['rows', rowsPage],
	['line', ({index}, query) => readLineDetail(index, parseNumberParameter(query, 'row'))],
	[
		'place',
		({matches}, query) => ({
			place: matches.matchesFor(parseRowFilter(query)).positionOf(parseNumberParameter(query, 'row')),
		}),
	],
	['latency', latencyIntervals],
	['connections', newestConnections],
	['export', exportLines],
]);

function rowsPage({index, matches}: IndexedLog, query: URLSearchParams) {
	const found = matches.matchesFor(parseRowFilter(query));
	const from = parseNumberParameter(query, 'from');
	const end = Math.min(found.count, from + Math.min(MAX_ROWS, parseNumberParameter(query, 'count')));
	const list = Array.from({length: Math.max(0, end - from)}, (_, at) =>
		buildListedRow(index, found.row(from + at)),
	);
	return {total: found.count, share: found.share, from, rows: list};
}

function latencyIntervals({index, matches}: IndexedLog, query: URLSearchParams, res: ServerResponse) {
	const parts = Math.max(1, Math.min(MAX_PARTS, parseNumberParameter(query, 'parts')));
	const filter = parseRowFilter(query);
	return latencyOverTime(index, matches.matchesFor(filter), {
		parts,
		ofRequests: filter.show === 'requests',
		isWanted: () => !res.destroyed,
	});
}

/** The most recent connections, newest first. */
function newestConnections({index}: IndexedLog) {
	const list = index.connections.slice(1).slice(-MAX_CONNECTIONS).reverse();
	return {connections: list, total: index.connections.length - 1};
}

function sendJson(res: ServerResponse, value: unknown): void {
	const body = Buffer.from(JSON.stringify(value));
	res.writeHead(200, {...securityHeaders, 'content-type': 'application/json', 'content-length': body.length});
	res.end(body);
}
