import type {ExecutionContext} from 'ava';
import {type Body, Envelope, type MessageOrigin} from '../../lib/core/envelope.js';
import {Valve} from '../../lib/core/valve.js';
import {
	type CodexBackend,
	type CodexOptions,
	startCodexBackend,
} from '../../lib/serve/codex/codex-backend.js';
import type {JsonObject} from '../../lib/util/json.js';
import {type LogEntry, readableLog} from './pipeline.js';

export type TurnMeta = {
	readonly status: string;
	readonly threadId?: string;
	readonly partial?: string;
	readonly error?: string;
	readonly isThreadRetired?: boolean;
};

export type TurnResult = {
	readonly content: ReadonlyArray<{readonly text: string}>;
	readonly structuredContent?: {readonly threadId: string; readonly content: string};
	readonly isError?: boolean;
	readonly _meta: {readonly 'io.bridge/turn': TurnMeta};
};

/** A call that was sent: its id and its result. */
export type Made = {readonly id: number; readonly answer: Promise<Turn>};

export type Turn = TurnMeta & {readonly text: string; readonly isError: boolean};

/** A client of a Codex backend, which acts as an MCP server for the stages in front of it. */
export class CodexClient {
	readonly backend: CodexBackend;
	/** All messages that the backend sent. */
	readonly heard: Body[] = [];
	/** The error that ended the backend. */
	failure: unknown;
	readonly logged: () => Promise<LogEntry[]>;
	readonly #origin: MessageOrigin = {name: 'client', valve: new Valve()};
	readonly #checks = new Set<() => void>();
	#lastId = 0;

	private constructor(backend: CodexBackend, logged: () => Promise<LogEntry[]>) {
		this.backend = backend;
		this.logged = logged;
		const runChecks = (): void => {
			for (const check of this.#checks) check();
		};
		backend.incoming.subscribe({
			next: ({body}) => {
				this.heard.push(body);
				runChecks();
			},
			error: error => {
				this.failure = error;
				runChecks();
			},
		});
	}

	/** Starts Codex without a handshake. */
	static async start(t: ExecutionContext, options: Partial<CodexOptions>): Promise<CodexClient> {
		const {log, entries} = readableLog();
		const backend = await startCodexBackend({log, onStderr: () => {}, ...options});
		t.teardown(() => backend.close());
		return new CodexClient(backend, entries);
	}

	static async ready(
		t: ExecutionContext,
		options: Partial<CodexOptions>,
		capabilities: JsonObject = {},
	): Promise<CodexClient> {
		const client = await CodexClient.start(t, options);
		await client.initialize(capabilities);
		return client;
	}

	async initialize(capabilities: JsonObject = {}, protocolVersion = '2025-11-25'): Promise<Body> {
		const clientInfo = {name: 'test', version: '1'};
		const response = await this.request('initialize', {protocolVersion, capabilities, clientInfo});
		this.say({method: 'notifications/initialized'});
		return response;
	}

	say(body: Body): void {
		const line = Buffer.from(`${JSON.stringify({jsonrpc: '2.0', ...body})}\n`);
		this.backend.outgoing.next(Envelope.received(line, this.#origin));
	}

	/** The first matching message, whether it has arrived or not. */
	message(matches: (body: Body) => boolean): Promise<Body> {
		return new Promise((resolve, reject) => {
			const check = (): void => {
				const found = this.heard.find(matches);
				if (!found && this.failure === undefined) return;
				this.#checks.delete(check);
				if (found) resolve(found);
				else reject(this.failure);
			};
			this.#checks.add(check);
			check();
		});
	}

	/** The params of the first notification or request with this method, optionally for this call. */
	async told(method: string, requestId?: number): Promise<JsonObject> {
		const {params} = await this.message(
			body =>
				body.method === method &&
				(requestId === undefined || (body.params as JsonObject).requestId === requestId),
		);
		return params as JsonObject;
	}

	/** The data of all log notifications with this type. */
	news(type: string): JsonObject[] {
		return this.heard
			.filter(({method}) => method === 'notifications/message')
			.map(({params}) => (params as {data: JsonObject}).data)
			.filter(data => data.type === type);
	}

	async request(method: string, params: JsonObject = {}): Promise<Body> {
		const id = ++this.#lastId;
		this.say({id, method, params});
		return this.message(body => body.id === id && body.method === undefined);
	}

	/** Calls a tool without waiting for its result. */
	make(name: string, args: JsonObject, _meta?: JsonObject): Made {
		const id = this.#lastId + 1;
		const params = {name, arguments: args, ...(_meta ? {_meta} : {})};
		return {id, answer: this.request('tools/call', params).then(toTurn)};
	}

	codex(prompt: string, more: JsonObject = {}): Promise<Turn> {
		return this.make('codex', {prompt, ...more}).answer;
	}

	reply(threadId: unknown, prompt: string): Promise<Turn> {
		return this.make('codex-reply', {threadId, prompt}).answer;
	}

	cancel({id}: Made): void {
		this.say({method: 'notifications/cancelled', params: {requestId: id}});
	}

	/** The next elicitation request, with a function that responds to it. */
	async question(): Promise<{params: JsonObject; id: unknown; answer(result: JsonObject): void}> {
		const {id, params} = await this.message(({method}) => method === 'elicitation/create');
		return {params: params as JsonObject, id, answer: result => this.say({id, result})};
	}
}

function toTurn({result, error}: Body): Turn {
	if (error !== undefined) throw new Error(JSON.stringify(error));
	const {content, isError = false, structuredContent, _meta} = result as TurnResult;
	const turn = _meta['io.bridge/turn'];
	const text = content[0]?.text ?? '';
	if (structuredContent && structuredContent.content !== text) throw new Error('The texts differ.');
	return {...turn, text, isError};
}
