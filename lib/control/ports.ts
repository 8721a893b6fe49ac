import type {Server, Socket} from 'node:net';
import {BridgeError} from '../errors.js';
import {listenTcp, portOf} from '../transports/tcp.js';
import {isLoop, type Rule} from './rule.js';

/** A rule in force. */
export type Listening = {readonly rule: Rule; readonly port: number; readonly server: Server};

export type PortsOptions = {
	/** A client has connected to the port of a rule. */
	readonly accept: (socket: Socket, listening: {readonly rule: Rule; readonly port: number}) => void;
	/** There are too many connections to one port. */
	readonly onDropped: (port: number, limit: number) => void;
	/** A connection could not be taken: the system had no room for it. */
	readonly onTrouble: (port: number, error: Error) => void;
};

const MAX_CONNECTIONS = 10_000;
const MAX_RULES = 1000;

/** The port rules in force. */
export class Ports {
	readonly #options: PortsOptions;
	/** By address and port. */
	readonly #listening = new Map<string, Listening>();

	constructor(options: PortsOptions) {
		this.#options = options;
	}

	/** Puts a rule in force: resolves when its port takes connections. */
	async add(rule: Rule): Promise<Listening> {
		const {host, port: wanted} = rule.local;
		const others = [...this.#listening.values()].map(({rule: {target}, port}) => ({
			target,
			local: {host, port},
		}));
		if (isLoop(rule, others)) throw loop(wanted);
		if (this.#listening.size >= MAX_RULES) throw tooMany();
		const server = await listenTcp({
			host,
			port: wanted,
			maxConnections: MAX_CONNECTIONS,
			accept: socket => this.#options.accept(socket, {rule, port: listening.port}),
			onDropped: () => this.#options.onDropped(listening.port, MAX_CONNECTIONS),
		}).catch((error: NodeJS.ErrnoException) => Promise.reject(couldNotListen(host, wanted, error)));
		const listening: Listening = {rule, port: portOf(server), server};
		server.on('error', error => this.#options.onTrouble(listening.port, error));
		this.#listening.set(`${host}:${listening.port}`, listening);
		return listening;
	}

	/** Takes no more connections for the rules of a port, and returns whether there were any. Those that are open stay. */
	remove(port: number): boolean {
		const removed = [...this.#listening].filter(([, one]) => one.port === port);
		for (const [key, {server}] of removed) {
			this.#listening.delete(key);
			server.close();
		}
		return removed.length > 0;
	}

	/** Takes no more connections at all. */
	close(): void {
		for (const {port} of [...this.#listening.values()]) this.remove(port);
	}
}

const loop = (port: number): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`Port ${port} would forward to itself.`,
		'Name another target, or another local port.',
	);

const tooMany = (): BridgeError =>
	new BridgeError('ERR_SESSION_BUSY', `There are ${MAX_RULES} rules.`, 'Remove one first.');

function couldNotListen(
	host: string,
	port: number,
	{code = '', message}: NodeJS.ErrnoException,
): BridgeError {
	const reasons = new Map([
		['EADDRINUSE', `Port ${port} already in use`],
		['EACCES', `Port ${port} needs a right that this user does not have`],
		['EADDRNOTAVAIL', `Port ${port} cannot be taken: this machine has no address ${host}`],
		['ENOTFOUND', `Port ${port} cannot be taken: this machine has no address ${host}`],
	]);
	return new BridgeError(
		'ERR_CONFIG_INVALID',
		`${reasons.get(code) ?? `Port ${port} cannot be taken: ${message}`}.`,
		'Use another port.',
		{port, code},
	);
}
