import type {Server, Socket} from 'node:net';
import {BridgeError} from '../core/errors.js';
import {listenTcp, portOf} from '../transports/tcp/tcp.js';
import {formsLoop, type PortRule} from './port-rule.js';

type ActiveRule = {readonly rule: PortRule; readonly port: number; readonly server: Server};

type PortRulesOptions = {
	readonly accept: (socket: Socket, listening: {readonly rule: PortRule; readonly port: number}) => void;
	/** Called when a port has too many connections. */
	readonly onDropped: (port: number, limit: number) => void;
	/** Called when the system could not accept a connection. */
	readonly onTrouble: (port: number, error: Error) => void;
};

const MAX_CONNECTIONS_PER_PORT = 10_000;
const MAX_RULES = 1000;

export class PortRules {
	readonly #options: PortRulesOptions;
	/** By host and port. */
	readonly #active = new Map<string, ActiveRule>();

	constructor(options: PortRulesOptions) {
		this.#options = options;
	}

	/** Activates a rule. Resolves when its port accepts connections. */
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

	/** Stops listening on a port. Open connections stay. Returns whether there was a rule. */
	remove(port: number): boolean {
		const removed = [...this.#active].filter(([, active]) => active.port === port);
		for (const [key, {server}] of removed) {
			this.#active.delete(key);
			server.close();
		}
		return removed.length > 0;
	}

	close(): void {
		for (const {port} of [...this.#active.values()]) this.remove(port);
	}
}

const forwardsToItself = (port: number): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`Port ${port} would forward to itself.`,
		'Use another target or another local port.',
	);

const tooManyRules = (): BridgeError =>
	new BridgeError('ERR_SESSION_BUSY', `The limit of ${MAX_RULES} rules is reached.`, 'Remove one first.');

function listenError(host: string, port: number, {code = '', message}: NodeJS.ErrnoException): BridgeError {
	const reasons = new Map([
		['EADDRINUSE', `Port ${port} already in use`],
		['EACCES', `Port ${port} requires privileges that this user does not have`],
		['EADDRNOTAVAIL', `Cannot listen on port ${port}: this machine has no address ${host}`],
		['ENOTFOUND', `Cannot listen on port ${port}: this machine has no address ${host}`],
	]);
	return new BridgeError(
		'ERR_CONFIG_INVALID',
		`${reasons.get(code) ?? `Cannot listen on port ${port}: ${message}`}.`,
		'Use another port.',
		{port, code},
	);
}
