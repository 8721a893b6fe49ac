import {once} from 'node:events';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {json} from 'node:stream/consumers';
import type {ExecutionContext} from 'ava';

/** What Codex sends to its model, as far as these tests look at it. */
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

/** A model on the loopback interface: it does what the last message of the user says, so that Codex runs without a network. */
export interface ScriptedModel {
	readonly port: number;
	/** How many requests there were so far in which the user's last words fit. */
	readonly asked: (pattern?: RegExp) => number;
	/** All that the model was given in the last request, as JSON. */
	readonly given: () => string;
	/** The last request in which somebody said this. */
	readonly heard: (text: string) => Heard;
	/** It has what was to be said as soon as it is told so. */
	readonly tell: (text: string) => void;
	/** From now on it comes to no end with what fits. */
	readonly holdOn: (pattern: RegExp) => void;
	/** What the user had said last, in each request so far. */
	readonly prompts: () => string[];
	/** The names of the tools of that MCP server in the last request, sorted. */
	toolsOf(server: string): string[];
}

/** What the model was asked, as far as a user or a developer has a say in it. */
export interface Heard {
	readonly model: string;
	readonly effort: string | undefined;
	/** The base instructions: the current Codex has them in a message of their own, the one before beside all messages. */
	readonly base: string;
	readonly developer: string;
	readonly users: readonly string[];
}

/** What a user says to make the model say just this, the last of its lines. */
export const sayIt = (text: string): string => `say ${text}`;

/** What a user says to make the model say this, bit by bit, and never come to an end. */
export const sayAndHold = (text: string): string => `hold ${text}`;

/** What a user says to make the model say this when the test tells it to, and not before. */
export const sayWhenTold = (text: string): string => `wait ${text}`;

/** What a user says to make the model refuse, with this status of HTTP. */
export const refuseWith = (status: number): string => `refuse ${status}`;

/** What a user says to make the model want to run a command outside of the sandbox; it then says what came of it. */
export const runOutside = (command: string): string => `run ${JSON.stringify(command)}`;

/** What a user says to make the model call a tool of an MCP server; it then says what the tool answered. */
export function callTool(server: string, tool: string, given: object = {}): string {
	return `call ${server} ${tool} ${JSON.stringify(given)}`;
}

function textOf({content = ''}: ModelRequest['input'][number]): string {
	return typeof content === 'string' ? content : content.map(part => part.text ?? '').join('\n');
}

const textsOf = ({input}: ModelRequest, role: string): string[] =>
	input.filter(item => item.role === role).map(textOf);

const lastUserText = (request: ModelRequest): string => textsOf(request, 'user').at(-1) ?? '';

/** The next item of the conversation: the call of a tool, or something said. */
function nextItem(request: ModelRequest, serial: number): object {
	const last = request.input.at(-1);
	const say = (text: string) => ({
		type: 'message',
		role: 'assistant',
		id: `msg_${serial}`,
		content: [{type: 'output_text', text}],
	});
	if (last?.type?.endsWith('_call_output')) {
		return say(`The tool said: ${JSON.stringify(last.output)}`);
	}

	const text = lastUserText(request);
	const words = /^(?:say|wait) (.*)$/m.exec(text);
	if (words) return say(words[1] ?? '');
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
		: say(`You said: ${text}`);
}

/** A command that the model wants to run where the sandbox would not let it. */
const escalation = (cmd: unknown, serial: number) => ({
	type: 'function_call',
	id: `fc_${serial}`,
	call_id: `call_${serial}`,
	name: 'exec_command',
	arguments: JSON.stringify({cmd, sandbox_permissions: 'require_escalated', justification: 'It has to be.'}),
});

const written = (event: {readonly type: string}): string =>
	`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

/** Says the beginning of something, and nothing more until the other side has had enough. */
function hold(response: ServerResponse, text: string, serial: number): void {
	const item = {type: 'message', role: 'assistant', id: `msg_${serial}`, content: []};
	const events = [
		{type: 'response.created', response: {id: `resp_${serial}`}},
		{type: 'response.output_item.added', item},
		{type: 'response.output_text.delta', item_id: item.id, delta: text},
	];
	response.writeHead(200, {'content-type': 'text/event-stream'});
	response.write(events.map(written).join(''));
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
	response.end(events.map(written).join(''));
}

/** Starts the model; it ends with the test. */
export async function startModel(t: Pick<ExecutionContext, 'teardown'>): Promise<ScriptedModel> {
	const requests: ModelRequest[] = [];
	const heldOn: RegExp[] = [/^hold /m];
	const told = new Set<string>();
	const untold = new Map<string, () => void>();
	const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
		if (request.method !== 'POST') {
			response.end('{"models":[],"object":"list","data":[]}');
			return;
		}

		const body = (await json(request)) as ModelRequest;
		requests.push(body);
		const text = lastUserText(body);
		const held = heldOn.some(pattern => pattern.test(text));
		const awaited = /^wait (.*)$/m.exec(text)?.[1];
		const refusal = /^refuse (\d+)$/m.exec(text);
		if (refusal) response.writeHead(Number(refusal[1])).end('{"error":{"message":"refused"}}');
		else if (held) hold(response, /^hold (.*)$/m.exec(text)?.[1] ?? '', requests.length);
		else if (awaited === undefined || told.has(awaited))
			stream(response, nextItem(body, requests.length), requests.length);
		else untold.set(awaited, () => stream(response, nextItem(body, requests.length), requests.length));
	};
	const server = createServer((request, response) => {
		answer(request, response).catch(() => response.destroy());
	});
	server.listen(0, '127.0.0.1');
	await once(server, 'listening');
	t.teardown(() => {
		server.close();
		server.closeAllConnections();
	});
	return {
		port: (server.address() as AddressInfo).port,
		asked: (pattern = /^/) => requests.filter(request => pattern.test(lastUserText(request))).length,
		given: () => JSON.stringify(requests.at(-1)?.input),
		heard(text) {
			const found = requests.findLast(request => lastUserText(request).includes(text));
			if (!found) throw new Error(`The model was never told ${text}.`);
			const {model, instructions, reasoning} = found;
			const developers = textsOf(found, 'developer');
			const base = instructions ?? developers.shift() ?? '';
			const developer = developers.join('\n');
			return {model, effort: reasoning?.effort, base, developer, users: textsOf(found, 'user')};
		},
		tell(text) {
			told.add(text);
			untold.get(text)?.();
			untold.delete(text);
		},
		holdOn: pattern => void heldOn.push(pattern),
		prompts: () => requests.map(lastUserText),
		toolsOf(name) {
			const found = requests.at(-1)?.tools?.find(tool => tool.name === `mcp__${name}`);
			return (found?.tools ?? []).map(tool => tool.name).sort();
		},
	};
}
