import type {RequestListener, Server} from 'node:http';
import {BridgeError} from '../core/errors.js';
import {withListeningProcess} from '../http/listening-process.js';
import {addressOf, type HttpServerOptions, listenHttp} from '../http/server.js';

/** The addresses that `localhost` may resolve to. */
const [IPV4, IPV6] = ['127.0.0.1', '::1'] as const;
/** Limit of attempts to find a port that is free on both addresses. */
const MAX_ATTEMPTS = 10;

/** A server on both loopback addresses, so that any resolution of `localhost` reaches it. */
export type LocalServer = {readonly port: number; readonly servers: readonly Server[]};

type ListenLocallyOptions = Pick<HttpServerOptions, 'admit' | 'onBug' | 'onDropped' | 'onAcceptError'> & {
	/** 0 for any free port. */
	readonly port: number;
	readonly handle: RequestListener;
};

export async function listenLocally({port, ...options}: ListenLocallyOptions): Promise<LocalServer> {
	for (let attempt = 1; ; attempt++) {
		const first = await listenHttp({...options, host: IPV4, port}).catch(async error => {
			throw await withListeningProcess(listenError(port, error));
		});
		const {port: boundPort} = addressOf(first);
		try {
			return {port: boundPort, servers: [first, await listenHttp({...options, host: IPV6, port: boundPort})]};
		} catch (error) {
			if (hasNoIpv6(error)) return {port: boundPort, servers: [first]};
			first.close();
			if (port !== 0 || attempt === MAX_ATTEMPTS)
				throw await withListeningProcess(listenError(boundPort, error));
		}
	}
}

const hasNoIpv6 = (error: unknown): boolean =>
	error instanceof BridgeError && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(String(error.details.code));

function listenError(port: number, error: unknown): BridgeError | unknown {
	if (!(error instanceof BridgeError)) return error;
	const isInUse = error.details.code === 'EADDRINUSE';
	return new BridgeError(
		'ERR_CONFIG_INVALID',
		isInUse ? `Port ${port} already in use.` : error.message,
		'Use another one: --mcp-port PORT (0 for any free port).',
		{...error.details, port},
	);
}
