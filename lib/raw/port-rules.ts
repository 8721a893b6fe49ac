import type {Server, Socket} from 'node:net';
import {BridgeError} from '../core/errors.js';
import {listenTcp, portOf} from '../transports/tcp/tcp.js';
import {formsLoop, type PortRule} from './port-rule.js';

/** A rule in force. */
type ActiveRule = {readonly rule: PortRule; readonly port: number; readonly server: Server};

type PortRulesOptions = {
	/** A client has connected to the port of a rule. */
	readonly accept: (socket: Socket, listening: {readonly rule: PortRule; readonly port: number}) => void;
	/** There are too many connections to one port. */
	readonly onDropped: (port: number, limit: number) => void;
	/** A connection could not be taken: the system had no room for it. */
	readonly onTrouble: (port: number, error: Error) => void;
};

const MAX_CONNECTIONS_PER_PORT = 10_000;
const MAX_RULES = 1000;

/** The port rules in force. */
export class PortRules {
	readonly #options: PortRulesOptions;
	/** By address and port. */
	readonly #active = new Map<string, ActiveRule>();

	constructor(options: PortRulesOptions) {
		this.#options = options;
	}

	/** Puts a rule in force: resolves when its port takes connections. */
	async add(rule: PortRule): Promise<ActiveRule> {
		const {host, port: requestedPort} = rule.local;
		const others = [...this.#active.values()].map(({rule: {target}, port}) => ({
			target,
			local: {host, port},
		}));
		if (formsLoop(rule, others)) throw forwardsToItself(requestedPort);
		if (this.#active.size >= MAX_RULES) throw tooManyRules();
		const server = await listenTcp({
			host,
			port: requestedPort,
			maxConnections: MAX_CONNECTIONS_PER_PORT,
			accept: socket => this.#options.accept(socket, {rule, port: activeRule.port}),
			onDropped: () => this.#options.onDropped(activeRule.port, MAX_CONNECTIONS_PER_PORT),
		}).catch((error: NodeJS.ErrnoException) => Promise.reject(listenError(host, requestedPort, error)));
		const activeRule: ActiveRule = {rule, port: portOf(server), server};
		server.on('error', error => this.#options.onTrouble(activeRule.port, error));
		this.#active.set(`${host}:${activeRule.port}`, activeRule);
		return activeRule;
	}

	/** Takes no more connections for the rules of a port, and returns whether there were any. Those that are open stay. */
	remove(port: number): boolean {
		const removed = [...this.#active].filter(([, one]) => one.port === port);
		for (const [key, {server}] of removed) {
			this.#active.delete(key);
			server.close();
		}
		return removed.length > 0;
	}

	/** Takes no more connections at all. */
	close(): void {
		for (const {port} of [...this.#active.values()]) this.remove(port);
	}
}

const forwardsToItself = (port: number): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`Port ${port} would forward to itself.`,
		'Name another target, or another local port.',
	);

const tooManyRules = (): BridgeError =>
	new BridgeError('ERR_SESSION_BUSY', `There are ${MAX_RULES} rules.`, 'Remove one first.');

function listenError(host: string, port: number, {code = '', message}: NodeJS.ErrnoException): BridgeError {
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
