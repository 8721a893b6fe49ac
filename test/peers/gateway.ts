import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {type Listening, type Owner, startListening} from './listening.js';
import {bridgeFile} from './peers.js';

/** A service in the gateway's configuration file. */
export interface Service {
	readonly command?: string;
	readonly args?: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
	readonly url?: string;
	readonly transport?: 'http' | 'sse' | 'ws' | 'stdio';
	readonly [key: string]: unknown;
}

export interface GatewayOptions {
	/** The folder of the configuration file. */
	readonly folder: string;
	readonly services: Readonly<Record<string, Service>>;
	/** Default: chosen by the system. A gateway that will be restarted needs a fixed one. */
	readonly port?: number;
	/** Other top-level keys of the configuration. */
	readonly settings?: Readonly<Record<string, unknown>>;
}

/** Starts `bridge gateway` with a configuration file, and waits until it prints its address. */
export async function startGateway(t: Owner, options: GatewayOptions): Promise<Listening> {
	const file = join(options.folder, 'gateway.json');
	const listen = `127.0.0.1:${options.port ?? 0}`;
	const configuration = {listen, ...options.settings, servers: options.services};
	await writeFile(file, JSON.stringify(configuration, undefined, '\t'));
	const args = [bridgeFile, 'gateway', '--config', file];
	return startListening(t, {command: process.execPath, args}, /listens on http:\/\/127\.0\.0\.1:(\d+)/);
}

export function serviceUrl({port}: Listening, service: string, rest = ''): string {
	return `http://127.0.0.1:${port}/mcp/${service}${rest}`;
}

/** The part of a service's status in `/status` that tests check. */
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

export async function gatewayStatus({port}: Listening) {
	const response = await fetch(`http://127.0.0.1:${port}/status`);
	return (await response.json()) as {readonly services: Readonly<Record<string, ServiceStatus>>};
}
