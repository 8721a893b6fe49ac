import type {RequestListener, Server} from 'node:http';
import {BridgeError} from '../errors.js';
import {withHolder} from '../http/port-holder.js';
import {addressOf, type HttpServerOptions, listen} from '../http/server.js';

/** Both of what `localhost` may be. */
const [IPV4, IPV6] = ['127.0.0.1', '::1'] as const;
/** What is tried for a port that is free on both. */
const ATTEMPTS = 10;

/** A server on both addresses of this machine, so that it is there for whatever `localhost` is taken for. */
export type LocalServer = {readonly port: number; readonly servers: readonly Server[]};

export type ListenLocallyOptions = Pick<HttpServerOptions, 'admit' | 'onBug' | 'onDropped' | 'onTrouble'> & {
	/** 0 for any that is free. */
	readonly port: number;
	readonly handle: RequestListener;
};

/** Listens on this machine alone. */
export async function listenLocally({port, ...options}: ListenLocallyOptions): Promise<LocalServer> {
	for (let attempt = 1; ; attempt++) {
		const first = await listen({...options, host: IPV4, port}).catch(async error => {
			throw await withHolder(taken(port, error));
		});
		const {port: found} = addressOf(first);
		try {
			return {port: found, servers: [first, await listen({...options, host: IPV6, port: found})]};
		} catch (error) {
			if (hasNoIpv6(error)) return {port: found, servers: [first]};
			first.close();
			if (port !== 0 || attempt === ATTEMPTS) throw await withHolder(taken(found, error));
		}
	}
}

const hasNoIpv6 = (error: unknown): boolean =>
	error instanceof BridgeError && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(String(error.details.code));

function taken(port: number, error: unknown): BridgeError | unknown {
	if (!(error instanceof BridgeError)) return error;
	const isTaken = error.details.code === 'EADDRINUSE';
	return new BridgeError(
		'ERR_CONFIG_INVALID',
		isTaken ? `Port ${port} already in use.` : error.message,
		'Use another one: --mcp-port PORT (0 for any that is free).',
		{...error.details, port},
	);
}
