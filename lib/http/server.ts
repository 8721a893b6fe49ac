import {
	createServer,
	type IncomingMessage,
	type RequestListener,
	type Server,
	type ServerResponse,
} from 'node:http';
import {Server as NetServer} from 'node:net';
import {performance} from 'node:perf_hooks';
import type {Duplex} from 'node:stream';
import {BridgeError} from '../core/errors.js';
import {RateLimiter} from '../util/rate-limiter.js';
import {ConnectionLimiter} from './connection-limiter.js';
import {catchHandlerErrors, catchUpgradeErrors, type UpgradeListener} from './handlers.js';
import {endConnection} from './http-error.js';
import {findListeningProcess} from './listening-process.js';
import {MAX_CONNECTIONS} from './max-connections.js';
import type {AdmitRequest} from './same-user.js';
import {listenOnSocket} from './unix-socket.js';
import {
	DEFAULT_UNREAD_BYTES,
	DEFAULT_UNREAD_MS,
	type UnreadOptions,
	UnreadResponses,
} from './unread-responses.js';

export type HttpServerOptions = {
	readonly host: string;
	readonly port: number;
	/** The path of a Unix socket to listen on instead of a port. */
	readonly path?: string | undefined;
	/** The remedy if the address cannot be used: a sentence. */
	readonly addressRemedy?: string;
	readonly handle: RequestListener;
	readonly upgrade?: UpgradeListener;
	/** Decides about each request before it is handled. Without it, all are admitted. */
	readonly admit?: AdmitRequest | undefined;
	/** Receives the error that a handler threw. The request ends with 500, and the process continues. */
	readonly onBug: (error: unknown) => void;
	/** Timeouts of the head of a request, and of the whole request. */
	readonly headersTimeoutMs?: number;
	readonly requestTimeoutMs?: number;
	readonly maxConnections?: number;
	/** Whether requests prove a principal, which `handle` then attributes to their connection. */
	readonly havePrincipals?: boolean;
	readonly unread?: UnreadOptions;
	/**
	 * Called at intervals while connections are closed at the limit: idle ones, or new ones if none is idle.
	 */
	readonly onDropped?: (limit: number) => void;
	/** Called at intervals while connections cannot be accepted. */
	readonly onAcceptError?: (error: Error) => void;
};

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 60_000;
const MAX_HEADER_BYTES = 16 * 1024;
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const REPORT_INTERVAL_MS = 10_000;
const unreadDefaults: UnreadOptions = {
	limits: () => ({bytes: DEFAULT_UNREAD_BYTES, forMs: DEFAULT_UNREAD_MS}),
	onClosed: () => {},
};

/** Starts an HTTP server, with limits on what a client can cost before it is authenticated. */
export async function listenHttp(options: HttpServerOptions): Promise<Server> {
	const {
		host,
		port,
		path,
		upgrade,
		admit,
		onBug,
		headersTimeoutMs = HEADERS_TIMEOUT_MS,
		requestTimeoutMs = REQUEST_TIMEOUT_MS,
		maxConnections = MAX_CONNECTIONS,
		addressRemedy = 'Use another one: --port PORT (0 for any that is free).',
		onDropped,
		onAcceptError,
	} = options;
	const handle = catchHandlerErrors(options.handle, {admit, onBug});
	const server = createServer(
		{
			maxHeaderSize: MAX_HEADER_BYTES,
			headersTimeout: headersTimeoutMs,
			requestTimeout: requestTimeoutMs,
			connectionsCheckingInterval: Math.min(1000, headersTimeoutMs),
			keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
			noDelay: true,
		},
		upgrade ? handle : ignoreUpgrade(handle),
	);
	const rate = new RateLimiter(1, REPORT_INTERVAL_MS, () => performance.now());
	const drop = (): void => {
		if (rate.tryAcquire()) onDropped?.(maxConnections);
	};
	const connections = limitConnections(server, options, drop);
	if (upgrade) {
		server.on('upgrade', ({socket}) => connections.beginUpgrade(socket));
		server.on('upgrade', catchUpgradeErrors(upgrade, {admit, onBug}));
	}
	// Otherwise Node drops headers over a limit, and the guard could not check them.
	server.maxHeadersCount = 0;
	server.on('request', (req, res) => connections.beginRequest(req.socket, res));
	server.on('checkContinue', (req, res) => {
		connections.beginRequest(req.socket, res);
		continueOnRead(req, res);
		handle(req, res);
	});
	server.on('connect', rejectConnect);
	if (path === undefined) await listenOnPort(server, {host, port, addressRemedy});
	else await listenOnSocket(server, path);
	// A connection that cannot be accepted, for instance for lack of file descriptors, affects no others.
	server.on('error', error => {
		if (rate.tryAcquire()) onAcceptError?.(error);
	});
	return server;
}

/** Limits connections and their unread responses. Calls `drop` for each connection that is closed. */
function limitConnections(
	server: Server,
	{
		maxConnections: max = MAX_CONNECTIONS,
		havePrincipals = false,
		unread: limits = unreadDefaults,
	}: HttpServerOptions,
	drop: () => void,
): ConnectionLimiter {
	const connections = new ConnectionLimiter({max, havePrincipals, onEvicted: drop});
	const unread = new UnreadResponses(limits);
	// Node counts evicted connections until they are closed.
	server.maxConnections = 2 * max;
	server.on('drop', drop);
	server.on('connection', socket => {
		if (connections.add(socket)) return unread.watch(socket);
		socket.destroy();
		drop();
	});
	return connections;
}

type ListenAddress = {readonly host: string; readonly port: number; readonly addressRemedy: string};

const listenOnPort = (server: Server, address: ListenAddress): Promise<void> =>
	new Promise((resolve, reject) => {
		server.once('error', (error: NodeJS.ErrnoException) => listenError(address, error).then(reject));
		server.listen(address.port, address.host.replace(/^\[(.*)\]$/, '$1'), resolve);
	});

/** Stops accepting connections. `close` of node:http would also cut off responses that are not fully read. */
export function stopListening(server: Server): void {
	NetServer.prototype.close.call(server);
}

/**
 * Without an upgrade handler, an upgrade request is handled like any other. Its response is the last one on
 * the connection: the data after the request belongs to the other protocol, and Node does not always read it.
 */
const ignoreUpgrade =
	(handle: RequestListener): RequestListener =>
	(req, res) => {
		if (req.headers.upgrade !== undefined) res.shouldKeepAlive = false;
		handle(req, res);
	};

/** Sends 100 Continue when a handler reads the body, and not if the head is rejected. */
function continueOnRead(req: IncomingMessage, res: ServerResponse): void {
	res.setHeader('connection', 'close');
	req.once('resume', () => {
		if (res.headersSent) return;
		res.removeHeader('connection');
		res.writeContinue();
	});
}

/** Rejects CONNECT: bridge does not tunnel bytes that it has not parsed. */
function rejectConnect(_req: IncomingMessage, socket: Duplex): void {
	endConnection(
		socket,
		'HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, POST, DELETE\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
	);
}

/** Returns the address that a server listens on, with brackets for IPv6 as in a URL. */
export function addressOf(server: Server): {readonly host: string; readonly port: number} {
	const address = server.address();
	if (address === null || typeof address === 'string') return {host: 'localhost', port: 0};
	const {family, address: host, port} = address;
	return {host: family === 'IPv6' ? `[${host}]` : host, port};
}

async function listenError(
	{host, port, addressRemedy}: ListenAddress,
	error: NodeJS.ErrnoException,
): Promise<BridgeError> {
	const listener = error.code === 'EADDRINUSE' ? await findListeningProcess(port) : undefined;
	const reasons: {[code: string]: string} = {
		EADDRINUSE: `the port is already in use${listener === undefined ? '' : ` by ${listener}`}`,
		EACCES: 'this user may not use that port',
		EADDRNOTAVAIL: 'this machine has no such address',
	};
	return new BridgeError(
		'ERR_CONFIG_INVALID',
		`Cannot listen on ${host}:${port}: ${reasons[error.code ?? ''] ?? error.message}.`,
		addressRemedy,
		{code: error.code ?? ''},
	);
}
