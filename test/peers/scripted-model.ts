import {once} from 'node:events';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {json} from 'node:stream/consumers';
import type {ExecutionContext} from 'ava';

/** The part of Codex's model request that these tests check. */
interface ModelRequest {
	readonly model: string;
	readonly instructions?: string;
	readonly reasoning?: {readonly effort?: string} | null;
	readonly input: ReadonlyArray<{
		readonly type?: string;
		readonly role?: string;
		readonly content?: string | ReadonlyArray<{readonly text?: string}>;
		readonly output?: unknown;
	}>;
	readonly tools?: ReadonlyArray<{
		readonly type: string;
		readonly name?: string;
		readonly tools?: ReadonlyArray<{readonly name: string}>;
	}>;
}

/**
 * A scripted model on the loopback interface. Its reply follows the last user message, so Codex runs
 * without a network.
 */
export interface ScriptedModel {
	readonly port: number;
	/** The number of requests so far whose last user message matches. */
	readonly requestCount: (pattern?: RegExp) => number;
	/** The input of the last request, as JSON. */
	readonly lastInput: () => string;
	/** The last request whose last user message contains this text. */
	readonly requestWith: (text: string) => ModelInput;
	/** Sends the reply that `replyOnRelease` delays. */
	readonly release: (text: string) => void;
	/** Never completes replies to matching user messages from now on. */
	readonly holdOn: (pattern: RegExp) => void;
	/** The last user message of each request so far. */
	readonly prompts: () => string[];
	/** The sorted names of that MCP server's tools in the last request. */
	toolsOf(server: string): string[];
}

/** The parts of a model request that come from a user or a developer. */
export interface ModelInput {
	readonly model: string;
	readonly effort: string | undefined;
	/**
	 * The base instructions. The current Codex sends them as a message, the previous one in a separate
	 * field.
	 */
	readonly base: string;
	readonly developer: string;
	readonly users: readonly string[];
}

/** A prompt that makes the model reply with this text, which must be one line. */
export const replyWith = (text: string): string => `say ${text}`;

/** A prompt that makes the model stream this text and never complete. */
export const replyAndHold = (text: string): string => `hold ${text}`;

/** A prompt that makes the model reply with this text when the test calls `release`. */
export const replyOnRelease = (text: string): string => `wait ${text}`;

/** A prompt that makes the model fail with this HTTP status. */
export const failWith = (status: number): string => `refuse ${status}`;

/** A prompt that makes the model run a command outside of the sandbox, and then reply with its output. */
export const runOutside = (command: string): string => `run ${JSON.stringify(command)}`;

/** A prompt that makes the model call a tool of an MCP server, and then reply with its result. */
export function callTool(server: string, tool: string, args: object = {}): string {
	return `call ${server} ${tool} ${JSON.stringify(args)}`;
}

function textOf({content = ''}: ModelRequest['input'][number]): string {
	return typeof content === 'string' ? content : content.map(part => part.text ?? '').join('\n');
}

const textsOf = ({input}: ModelRequest, role: string): string[] =>
	input.filter(item => item.role === role).map(textOf);

const lastUserText = (request: ModelRequest): string => textsOf(request, 'user').at(-1) ?? '';

/** The next output item: a tool call or a message. */
function nextItem(request: ModelRequest, serial: number): object {
	const last = request.input.at(-1);
	const message = (text: string) => ({
		type: 'message',
		role: 'assistant',
		id: `msg_${serial}`,
		content: [{type: 'output_text', text}],
	});
	if (last?.type?.endsWith('_call_output')) {
		return message(`The tool returned: ${JSON.stringify(last.output)}`);
	}

	const text = lastUserText(request);
	const words = /^(?:say|wait) (.*)$/m.exec(text);
	if (words) return message(words[1] ?? '');
	const command = /^run (.*)$/m.exec(text);
	if (command) return escalation(JSON.parse(command[1] ?? ''), serial);
	const call = /^call (\S+) (\S+) (.*)$/m.exec(text);
	return call
		? {
				type: 'function_call',
				id: `fc_${serial}`,
				call_id: `call_${serial}`,
				namespace: `mcp__${call[1]}`,
				name: call[2],
				arguments: call[3],
			}
		: message(`Echo of the prompt: ${text}`);
}

/** A command that requires permission to run outside of the sandbox. */
const escalation = (cmd: unknown, serial: number) => ({
	type: 'function_call',
	id: `fc_${serial}`,
	call_id: `call_${serial}`,
	name: 'exec_command',
	arguments: JSON.stringify({cmd, sandbox_permissions: 'require_escalated', justification: 'It has to be.'}),
});

const formatEvent = (event: {readonly type: string}): string =>
	`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Streams the beginning of a reply, and leaves the response open. */
function hold(response: ServerResponse, text: string, serial: number): void {
	const item = {type: 'message', role: 'assistant', id: `msg_${serial}`, content: []};
	const events = [
		{type: 'response.created', response: {id: `resp_${serial}`}},
		{type: 'response.output_item.added', item},
		{type: 'response.output_text.delta', item_id: item.id, delta: text},
	];
	response.writeHead(200, {'content-type': 'text/event-stream'});
	response.write(events.map(formatEvent).join(''));
}

function stream(response: ServerResponse, item: object, serial: number): void {
	const usage = {
		input_tokens: 10,
		input_tokens_details: {cached_tokens: 0},
		output_tokens: 5,
		output_tokens_details: {reasoning_tokens: 0},
		total_tokens: 15,
	};
	const id = `resp_${serial}`;
	const events = [
		{type: 'response.created', response: {id}},
		{type: 'response.output_item.done', item},
		{type: 'response.completed', response: {id, usage}},
	];
	response.writeHead(200, {'content-type': 'text/event-stream'});
	response.end(events.map(formatEvent).join(''));
}

/** Starts the model. It stops with the test. */
export async function startModel(t: Pick<ExecutionContext, 'teardown'>): Promise<ScriptedModel> {
	const requests: ModelRequest[] = [];
	const stalled: RegExp[] = [/^hold /m];
	const released = new Set<string>();
	const delayed = new Map<string, () => void>();
	const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
		if (request.method !== 'POST') {
			response.end('{"models":[],"object":"list","data":[]}');
			return;
		}

		const body = (await json(request)) as ModelRequest;
		requests.push(body);
		const text = lastUserText(body);
		const isStalled = stalled.some(pattern => pattern.test(text));
		const delayedText = /^wait (.*)$/m.exec(text)?.[1];
		const failure = /^refuse (\d+)$/m.exec(text);
		if (failure) response.writeHead(Number(failure[1])).end('{"error":{"message":"refused"}}');
		else if (isStalled) hold(response, /^hold (.*)$/m.exec(text)?.[1] ?? '', requests.length);
		else if (delayedText === undefined || released.has(delayedText))
			stream(response, nextItem(body, requests.length), requests.length);
		else delayed.set(delayedText, () => stream(response, nextItem(body, requests.length), requests.length));
	};
	const server = createServer((request, response) => {
		respond(request, response).catch(() => response.destroy());
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => {
		server.close();
		server.closeAllConnections();
	});
	return {
		port: (server.address() as AddressInfo).port,
		requestCount: (pattern = /^/) => requests.filter(request => pattern.test(lastUserText(request))).length,
		lastInput: () => JSON.stringify(requests.at(-1)?.input),
		requestWith(text) {
			const found = requests.findLast(request => lastUserText(request).includes(text));
			if (!found) throw new Error(`The model got no prompt with ${text}.`);
			const {model, instructions, reasoning} = found;
			const developers = textsOf(found, 'developer');
			const base = instructions ?? developers.shift() ?? '';
			const developer = developers.join('\n');
			return {model, effort: reasoning?.effort, base, developer, users: textsOf(found, 'user')};
		},
		release(text) {
			released.add(text);
			delayed.get(text)?.();
			delayed.delete(text);
		},
		holdOn: pattern => void stalled.push(pattern),
		prompts: () => requests.map(lastUserText),
		toolsOf(name) {
			const found = requests.at(-1)?.tools?.find(tool => tool.name === `mcp__${name}`);
			return (found?.tools ?? []).map(tool => tool.name).sort();
		},
	};
}
