import {setTimeout as sleep} from 'node:timers/promises';
import type {Address, Connection, Message} from './exchange.js';
import {type Call, judge, type Verdict} from './judge.js';
import {HttpConnection, ModernConnection} from './posts.js';
import {randomOf} from './random.js';
import {HONEST_TOKEN, isMortal, roleOf, type ServiceName, type Transport} from './services.js';
import {SseConnection, WsConnection} from './streams.js';
import type {Tally} from './tally.js';

/** Pause between two turns of a client. Paced clients leave the CPU to the gateway. */
const PAUSE_MS = {least: 500, most: 1000};
/** Concurrent requests of a client. */
const AT_ONCE = 2;
const MAX_PAYLOAD = 2000;
const RETRY_MS = 500;
const VERSIONS = {http: '2025-11-25', sse: '2024-11-05', ws: '2025-06-18'};

export type Ground = {
	readonly base: URL;
	readonly seed: number;
	readonly patienceMs: number;
	readonly tally: Tally;
	/** Aborted at the end of the run: clients wait for pending requests, and send no others. */
	readonly end: AbortSignal;
};

/** A client that sends requests with its own payloads, and checks each response. */
export class HonestClient {
	readonly #name: string;
	readonly #ground: Ground;
	readonly #service: ServiceName;
	readonly #transport: Transport;
	readonly #address: Address;
	#connection: Connection | undefined;
	#ids = 0;

	constructor(number: number, ground: Ground) {
		const {transport, service} = roleOf(number);
		this.#name = `client ${number} (${transport}, ${service})`;
		this.#ground = ground;
		this.#service = service;
		this.#transport = transport;
		this.#address = {
			base: ground.base,
			path: service === 'hub' ? '/mcp' : `/mcp/${service}`,
			token: HONEST_TOKEN,
			patienceMs: ground.patienceMs,
			onExtra: message =>
				this.#fail(`a response to no pending request: ${JSON.stringify(message).slice(0, 300)}`),
		};
	}

	/** Connects. Resolves when the first request may be sent, or after the end of the run. */
	async start(): Promise<void> {
		while (!this.#connection && !this.#ground.end.aborted) {
			const failure = await this.#connect();
			if (failure === undefined) return;
			if (!isMortal(this.#service)) this.#fail(`cannot initialize: ${failure}`);
			await this.#pause(RETRY_MS);
		}
	}

	/** Sends requests until the end of the run. */
	async run(): Promise<void> {
		const {least, most} = PAUSE_MS;
		while (!this.#ground.end.aborted) {
			await this.#pause(least + this.#random('pause') * (most - least));
			await this.start();
			const connection = this.#connection;
			if (!connection || this.#ground.end.aborted) continue;
			const verdicts = await Promise.all(Array.from({length: AT_ONCE}, () => this.#call(connection)));
			if (verdicts.some(isDisconnected)) this.close();
		}
	}

	close(): void {
		this.#connection?.close();
		this.#connection = undefined;
	}

	async #connect(): Promise<string | undefined> {
		let connection: Connection | undefined;
		try {
			connection = await this.#open();
			if (this.#transport !== 'modern') {
				const params = {
					protocolVersion: VERSIONS[this.#transport],
					capabilities: {},
					clientInfo: {name: this.#name, version: '1'},
				};
				const outcome = await connection.request({id: ++this.#ids, method: 'initialize', params});
				if (!outcome.responses[0]?.result) throw new Error(JSON.stringify(outcome).slice(0, 300));
				await connection.notify({method: 'notifications/initialized'});
			}
			this.#connection = connection;
			return;
		} catch (error) {
			connection?.close();
			return String(error);
		}
	}

	async #open(): Promise<Connection> {
		const address = this.#address;
		if (this.#transport === 'http') return new HttpConnection(address);
		if (this.#transport === 'modern') return new ModernConnection(address);
		const stream = this.#transport === 'sse' ? new SseConnection(address) : new WsConnection(address);
		await stream.open();
		return stream;
	}

	async #call(connection: Connection): Promise<Verdict> {
		const id = ++this.#ids;
		const length = Math.ceil(this.#random('length') * MAX_PAYLOAD);
		const text = `${this.#ground.seed} ${this.#name} ${id} `.padEnd(length, 'x');
		const call: Call = {id, text, mayFail: isMortal(this.#service)};
		const {tally} = this.#ground;
		const {phase} = tally;
		const started = performance.now();
		const outcome = await connection.request({
			id,
			method: 'tools/call',
			params: paramsOf(this.#service, call),
		});
		const verdict = judge(call, outcome);
		if (verdict.failure === undefined) phase.record(verdict, performance.now() - started, call.mayFail);
		else this.#fail(verdict.failure);
		return verdict;
	}

	#fail(text: string): void {
		this.#ground.tally.fail(`${this.#name}: ${text}`);
	}

	#random(what: string): number {
		return randomOf(this.#ground.seed, this.#name, what, this.#ids);
	}

	async #pause(ms: number): Promise<void> {
		await sleep(ms, undefined, {signal: this.#ground.end}).catch(() => {});
	}
}

/** A client reconnects after a failure, and when its session is unknown. */
const isDisconnected = ({failure, error}: Verdict): boolean => failure !== undefined || error === -32001;

/**
 * Hub clients alternate between three ways to the same tool: the tool, a plain program, and an
 * interpreter.
 */
function paramsOf(service: ServiceName, {id, text}: Call): Message {
	if (service !== 'hub') return {name: 'echo', arguments: {payload: text}};
	const call = `shared.echo(payload=${JSON.stringify(text)})`;
	if (id % INTERPRETED === 0) return {name: 'run', arguments: {command: `"".join([c for c in ${call}])`}};
	if (id % 2 === 0) return {name: 'run', arguments: {command: call}};
	return {name: 'shared__echo', arguments: {payload: text}};
}

/** One call in this number uses an interpreter. */
const INTERPRETED = 20;
