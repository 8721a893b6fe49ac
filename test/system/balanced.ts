import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {readFileSync, writeFileSync} from 'node:fs';
import {Agent, request as httpRequest, type IncomingHttpHeaders} from 'node:http';
import {join} from 'node:path';
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {fileURLToPath} from 'node:url';
import type {ExecutionContext} from 'ava';
import {type Message, opening} from '../helpers/bridge.js';
import {freePort} from '../helpers/free-port.js';
import type {RunningGateway} from '../helpers/gateway.js';
import {tempFolder} from '../helpers/temp-folder.js';
import {need} from './tools.js';

const example = fileURLToPath(new URL('../../../deploy/haproxy.cfg', import.meta.url));

/**
 * Starts HAProxy in front of gateways with the example configuration, and resolves to its port. `isSticky`
 * enables its optional sticky sessions.
 */
export async function startBalancer(
	t: ExecutionContext,
	replicas: readonly RunningGateway[],
	isSticky = false,
): Promise<number> {
	need('haproxy');
	const port = await freePort();
	const servers = replicas.map((gateway, at) => `\tserver bridge-${at + 1} 127.0.0.1:${gateway.port}`);
	const text = readFileSync(example, 'utf8')
		.replace(/^\t#stick/gm, isSticky ? '\tstick' : '$&')
		.replace('bind :7411', `bind 127.0.0.1:${port}`)
		.replace(/^\tserver [\s\S]+$/m, `${servers.join('\n')}\n`);
	const file = join(tempFolder(t), 'haproxy.cfg');
	writeFileSync(file, text);
	const haproxy = spawn('haproxy', ['-q', '-db', '-f', file], {
		stdio: ['ignore', 'ignore', 'inherit'],
		env: {...process.env, BRIDGE_TOKEN: 'none'},
	});
	t.teardown(async () => {
		haproxy.kill('SIGKILL');
		await once(haproxy, 'close');
	});
	const isUp = (): Promise<boolean> =>
		fetch(`http://127.0.0.1:${port}/healthz`).then(
			({ok}) => ok,
			() => false,
		);
	while (!(await isUp())) await sleep(20);
	return port;
}

/** Waits until `/readyz` of a gateway reports this status. */
export async function becomes(gateway: RunningGateway, status: string): Promise<void> {
	while (!(await gateway.fetch('/readyz')).text.includes(`"${status}"`)) await sleep(50);
}

/** A failed call: its start time, and the status and body or the error. */
export type Failure = {readonly at: number; readonly reason: string};

type Reply = {readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string};

const common = {'content-type': 'application/json', accept: 'application/json, text/event-stream'};

/**
 * A client behind a balancer. As the specification requires, it re-initializes when its session is unknown
 * (404).
 */
export class Client {
	readonly name: string;
	readonly service: string;
	readonly method: string;
	readonly failures: Failure[] = [];
	/** The number of re-initializations. */
	reinitializations = 0;
	/** The number of successful calls, and the time of the latest. */
	succeeded = 0;
	succeededAt = 0;
	#port: number;
	readonly #agent = new Agent({keepAlive: true});
	#session: string | undefined;
	#count = 0;

	constructor(port: number, service: string, name: string, method: string) {
		this.#port = port;
		this.service = service;
		this.name = name;
		this.method = method;
	}

	reconnectTo(port: number): void {
		this.#port = port;
	}

	async initialize(): Promise<void> {
		this.#session = undefined;
		let reply = await this.#post({id: 'first', method: 'initialize', params: opening});
		while (reply.status === 503 && reply.headers['retry-after'] !== undefined) {
			await sleep(Number(reply.headers['retry-after']) * 100);
			reply = await this.#post({id: 'first', method: 'initialize', params: opening});
		}
		if (reply.status !== 200)
			throw new Error(`${this.name} could not initialize: ${reply.status} ${reply.text}`);
		this.#session = String(reply.headers['mcp-session-id']);
		await this.#post({method: 'notifications/initialized'});
	}

	/** Makes a call without retries, and checks that the response belongs to it. */
	async call(): Promise<void> {
		const id = ++this.#count;
		const params = {name: 'echo', arguments: {client: this.name, id}};
		const at = performance.now();
		try {
			if (this.#session === undefined) await this.initialize();
			let reply = await this.#post({id, method: this.method, params});
			while (reply.status === 404) {
				this.reinitializations++;
				await this.initialize();
				reply = await this.#post({id, method: this.method, params});
			}
			if (reply.status === 200 && isOwnResponse(reply, id, params)) {
				this.succeeded++;
				this.succeededAt = performance.now();
			} else this.failures.push({at, reason: `${reply.status} ${reply.text}`});
		} catch (error) {
			this.failures.push({at, reason: String(error)});
		}
	}

	close(): void {
		this.#agent.destroy();
	}

	#post(message: Message): Promise<Reply> {
		const session = this.#session === undefined ? {} : {'mcp-session-id': this.#session};
		return new Promise((resolve, reject) => {
			const request = httpRequest({
				agent: this.#agent,
				host: '127.0.0.1',
				port: this.#port,
				path: `/mcp/${this.service}`,
				method: 'POST',
				headers: {...common, ...session},
			});
			request.once('error', reject).once('response', response => {
				let text = '';
				response.setEncoding('utf8').on('data', chunk => {
					text += chunk;
				});
				response.once('error', reject);
				response.once('end', () =>
					resolve({status: response.statusCode ?? 0, headers: response.headers, text}),
				);
			});
			request.end(JSON.stringify({jsonrpc: '2.0', ...message}));
		});
	}
}

/** Whether a reply matches its request: the upstreams echo their parameters. */
function isOwnResponse({text}: Reply, id: number, params: Message): boolean {
	const data = text.startsWith('{') ? text : ([...text.matchAll(/^data: (\{.*)$/gm)].at(-1)?.[1] ?? '{}');
	const message = JSON.parse(data) as {id?: number; result?: {content?: Array<{text: string}>}};
	const echoed = message.result?.content ? JSON.parse(message.result.content[0]?.text ?? '') : message.result;
	return message.id === id && JSON.stringify(echoed) === JSON.stringify(params);
}

/** Runs all clients concurrently, each with one call at a time, until `isEnough` returns true. */
export async function load(clients: readonly Client[], isEnough: () => boolean): Promise<void> {
	const work = async (client: Client): Promise<void> => {
		while (!isEnough()) await client.call();
	};
	await Promise.all(clients.map(work));
}

/** Creates clients and initializes their sessions. */
export async function newClients(
	t: ExecutionContext,
	port: number,
	counts: {readonly [service: string]: number},
): Promise<Client[]> {
	const clients = Object.entries(counts).flatMap(([service, count]) =>
		Array.from({length: count}, (_, at) => {
			const method = service === 'http' ? 'tools/call' : 'echo';
			return new Client(port, service, `${service} ${at}`, method);
		}),
	);
	t.teardown(() => {
		for (const client of clients) client.close();
	});
	await Promise.all(clients.map(client => client.initialize()));
	return clients;
}
