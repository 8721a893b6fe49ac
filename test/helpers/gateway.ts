import {mkdtemp, rm, writeFile} from 'node:fs/promises';
import {createConnection} from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {type Message, opening, type Running, type StartOptions, server, startBridge} from './bridge.js';
import {newFolder} from './program.js';

export type GatewayConfig = {readonly [key: string]: unknown};

export function program(name: string, ...args: string[]): GatewayConfig {
	const [command, ...rest] = server(name, ...args);
	return {command, args: rest};
}

export type Answer = {readonly status: number; readonly headers: Headers; readonly text: string};

/** The message in a response: its JSON body, or the last event of its stream. */
export function messageIn({status, headers, text}: Answer): Message {
	if (text === '') throw new Error(`HTTP ${status} without a body: ${JSON.stringify([...headers])}`);
	if (!headers.get('content-type')?.startsWith('text/event-stream')) return JSON.parse(text) as Message;
	const data = [...text.matchAll(/^data: ?(.+)$/gm)].at(-1)?.[1] ?? '';
	return JSON.parse(data) as Message;
}

const FETCH_TIMEOUT_MS = 60_000;

/** A gateway process with a configuration file of its own. */
export class RunningGateway {
	readonly running: Running;
	readonly file: string;
	readonly base: URL;

	constructor(running: Running, file: string, base: URL) {
		this.running = running;
		this.file = file;
		this.base = base;
	}

	get port(): number {
		return Number(this.base.port);
	}

	/** Replaces the configuration, as an editor would. */
	configure(config: GatewayConfig): Promise<void> {
		return writeFile(this.file, JSON.stringify({listen: '127.0.0.1:0', ...config}));
	}

	/**
	 * Sends a request, and repeats it after a 408. On a busy machine, Node may check the limit of 10 s before
	 * it reads a request that has arrived.
	 */
	async fetch(path: string, init: RequestInit = {}): Promise<Answer> {
		const response = await fetch(new URL(path, this.base), {
			signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
			...init,
		});
		const text = await response.text();
		if (response.status === 408) return this.fetch(path, init);
		return {status: response.status, headers: response.headers, text};
	}

	/** Posts one message to a service; with an empty name, to the hub. */
	post(service: string, message: Message, headers: {readonly [name: string]: string} = {}): Promise<Answer> {
		const common = {'content-type': 'application/json', accept: 'application/json, text/event-stream'};
		const body = JSON.stringify({jsonrpc: '2.0', ...message});
		return this.fetch(service === '' ? '/mcp' : `/mcp/${service}`, {
			method: 'POST',
			headers: {...common, ...headers},
			body,
		});
	}

	/** Completes the handshake with a service. */
	async open(service: string, headers: {readonly [name: string]: string} = {}): Promise<ClientSession> {
		const response = await this.post(service, {id: 'first', method: 'initialize', params: opening}, headers);
		const id = response.headers.get('mcp-session-id');
		if (response.status !== 200 || id === null)
			throw new Error(`No session: ${response.status} ${response.text}`);
		const session = new ClientSession(this, service, {...headers, 'mcp-session-id': id}, messageIn(response));
		await session.post({method: 'notifications/initialized'});
		return session;
	}

	/** Sends bytes unchanged, and resolves to all received data when the gateway closes the connection. */
	raw(...bytes: Array<string | Uint8Array>): Promise<string> {
		return new Promise(resolve => {
			const socket = createConnection(this.port, this.base.hostname.replace(/^\[(.*)\]$/, '$1'));
			const chunks: Buffer[] = [];
			socket.on('data', chunk => chunks.push(chunk));
			socket.on('error', () => {});
			socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
			for (const part of bytes) socket.write(part);
		});
	}

	async stop(): Promise<number | null> {
		this.running.child.kill('SIGTERM');
		return (await this.running.exited).code;
	}
}

export class ClientSession {
	readonly gateway: RunningGateway;
	readonly service: string;
	readonly headers: {readonly [name: string]: string};
	/** The server's response to `initialize`. */
	readonly welcome: Message;

	constructor(gateway: RunningGateway, service: string, headers: ClientSession['headers'], welcome: Message) {
		this.gateway = gateway;
		this.service = service;
		this.headers = headers;
		this.welcome = welcome;
	}

	post(message: Message): Promise<Answer> {
		return this.gateway.post(this.service, message, this.headers);
	}

	async request(id: string | number, method: string, params: Message = {}): Promise<Message> {
		return messageIn(await this.post({id, method, params}));
	}
}

export type GatewayOptions = StartOptions & {readonly args?: readonly string[]};

/** Starts `bridge gateway` on a free port, with its configuration in this folder. */
async function launch(folder: string, config: GatewayConfig, options: GatewayOptions) {
	const {args = [], ...rest} = options;
	const file = join(folder, 'bridge.json');
	await writeFile(file, JSON.stringify({listen: '127.0.0.1:0', ...config}));
	const running = startBridge(['gateway', '--config', file, ...args], rest);
	const ready = async (): Promise<RunningGateway> => {
		const [line = ''] = await running.hasLines(1);
		const base = /http:\/\/\S+:\d+/.exec(line)?.[0];
		if (base === undefined) throw new Error(`No address in: ${line}`);
		return new RunningGateway(running, file, new URL(base));
	};
	return {running, ready};
}

/** Starts a gateway, and kills it after the test. */
export async function startGateway(
	t: ExecutionContext,
	config: GatewayConfig,
	options: GatewayOptions = {},
): Promise<RunningGateway> {
	const {running, ready} = await launch(await newFolder(t), config, options);
	t.teardown(() => running.child.kill('SIGKILL'));
	return ready();
}

export function shareGateway(config: GatewayConfig, options: GatewayOptions = {}): () => RunningGateway {
	let folder: string | undefined;
	let running: Running | undefined;
	let shared: RunningGateway | undefined;
	test.serial.before(async () => {
		folder = await mkdtemp(join(tmpdir(), 'bridge-test-'));
		const launched = await launch(folder, config, options);
		running = launched.running;
		shared = await launched.ready();
	});
	test.after.always(async () => {
		running?.child.kill('SIGKILL');
		if (folder !== undefined) await rm(folder, {recursive: true, force: true});
	});
	return () => {
		if (!shared) throw new Error('The gateway starts before the first test.');
		return shared;
	};
}
