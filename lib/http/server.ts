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
	/** The path of a Unix socket to listen on instead. */
	readonly path?: string | undefined;
	/** What to do if the address cannot be used: a sentence. */
	readonly addressRemedy?: string;
	readonly handle: RequestListener;
	/** A client wants to change to another protocol. */
	readonly upgrade?: UpgradeListener;
	/** Decides about each request before it is handled. Without it, all are admitted. */
	readonly admit?: AdmitRequest | undefined;
	/** Receives the error that a handler threw. The request ends with 500, and the program continues. */
	readonly onBug: (error: unknown) => void;
	/** How long the head of a request may take, and the whole of it. */
	readonly headersTimeoutMs?: number;
	readonly requestTimeoutMs?: number;
	readonly maxConnections?: number;
	/** Whether requests prove a principal, which `handle` then attributes to their connection. */
	readonly havePrincipals?: boolean;
	/** Limits of responses that clients do not read. */
	readonly unread?: UnreadOptions;
	/** Connections were closed since there are so many: idle ones, or new ones if none is idle. Called once in a while, not for each of them. */
	readonly onDropped?: (limit: number) => void;
	/** A connection could not be taken. Likewise. */
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

/** An HTTP server that listens, with limits for what a client may cost before it has said anything. */
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
	// Node would leave out what is over a limit, and the guard has to see all of them.
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
	// A connection that could not be taken, for want of files say, is not the end of the others.
	server.on('error', error => {
		if (rate.tryAcquire()) onAcceptError?.(error);
	});
	return server;
}

/** Limits the connections of a server, and what they do not read. `drop` is called for each that is closed. */
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
	// Evicted connections count for Node until they are closed.
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

/** Takes no more connections. Node's own close would also cut off answers that are complete, but not read to their end. */
export function stopListening(server: Server): void {
	NetServer.prototype.close.call(server);
}

/**
 * Who wants another protocol where there is none hears the answer of this one. It is the last on this connection: what
 * came behind such a request is for the other protocol, and Node does not always read it.
 */
const ignoreUpgrade =
	(handle: RequestListener): RequestListener =>
	(req, res) => {
		if (req.headers.upgrade !== undefined) res.shouldKeepAlive = false;
		handle(req, res);
	};

/** A client that waits to be asked for its body is asked when somebody reads it, and not if its head is refused. */
function continueOnRead(req: IncomingMessage, res: ServerResponse): void {
	res.setHeader('connection', 'close');
	req.once('resume', () => {
		if (res.headersSent) return;
		res.removeHeader('connection');
		res.writeContinue();
	});
}

/** No bytes of a client go anywhere without having been understood. */
function rejectConnect(_req: IncomingMessage, socket: Duplex): void {
	endConnection(
		socket,
		'HTTP/1.1 405 Method Not Allowed\r\nAllow: GET, POST, DELETE\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
	);
}

/** The address that a server listens on, as it stands in a URL. */
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
