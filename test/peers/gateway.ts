import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {type Listening, type Owner, startListening} from './listening.js';
import {bridgeFile} from './peers.js';

/** A server in the gateway's configuration file. */
export interface Service {
	readonly command?: string;
	readonly args?: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
	readonly url?: string;
	readonly transport?: 'http' | 'sse' | 'ws' | 'stdio';
	readonly [key: string]: unknown;
}

export interface GatewayOptions {
	/** Where its configuration is written. */
	readonly folder: string;
	readonly services: Readonly<Record<string, Service>>;
	/** Taken by the system if absent. A gateway that is to come back needs one. */
	readonly port?: number;
	/** Other top-level keys of the configuration. */
	readonly settings?: Readonly<Record<string, unknown>>;
}

/** Starts `bridge gateway` with a configuration file and waits until it says where it serves. */
export async function startGateway(t: Owner, options: GatewayOptions): Promise<Listening> {
	const file = join(options.folder, 'gateway.json');
	const listen = `127.0.0.1:${options.port ?? 0}`;
	const configuration = {listen, ...options.settings, servers: options.services};
	await writeFile(file, JSON.stringify(configuration, undefined, '\t'));
	const args = [bridgeFile, 'gateway', '--config', file];
	return startListening(t, {command: process.execPath, args}, /listens on http:\/\/127\.0\.0\.1:(\d+)/);
}

/** Where a service of a gateway is. */
export function serviceUrl({port}: Listening, service: string, rest = ''): string {
	return `http://127.0.0.1:${port}/mcp/${service}${rest}`;
}

/** What `/status` says of a service, as far as tests look at it. */
export interface ServiceStatus {
	readonly state: string;
	readonly transport: string;
	readonly version: string | null;
	readonly deprecated: boolean;
	readonly outlook: string | null;
	readonly lost: Readonly<Record<string, number>>;
	readonly tools: number | null;
	readonly sessions: number;
	readonly restarts: number;
	readonly lastError: string | null;
}

/** Reads `/status`. */
export async function gatewayStatus({port}: Listening) {
	const response = await fetch(`http://127.0.0.1:${port}/status`);
	return (await response.json()) as {readonly services: Readonly<Record<string, ServiceStatus>>};
}
