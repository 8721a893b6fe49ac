import type {Message} from '../../helpers/bridge.js';

export type Tool = {
	readonly name: string;
	readonly description: string;
	readonly inputSchema: {
		readonly type: string;
		readonly properties: {readonly [name: string]: {readonly type: unknown}};
		readonly required?: readonly string[];
	};
};

export type Failure = {readonly code: number; readonly message: string};

/** What the control server answered. */
export type Reply = {
	readonly status: number;
	readonly headers: Headers;
	readonly text: string;
	readonly message: Message;
};

/** Posts a body as it is. */
export async function postText(
	endpoint: string,
	body: string,
	headers: {readonly [name: string]: string} = {},
): Promise<Reply> {
	const response = await fetch(endpoint, {
		method: 'POST',
		headers: {'content-type': 'application/json', ...headers},
		body,
		signal: AbortSignal.timeout(30_000),
	});
	const text = await response.text();
	const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
	const message = isJson ? (JSON.parse(text) as Message) : {};
	return {status: response.status, headers: response.headers, text, message};
}

let lastId = 0;

/** Asks the control server, with nothing in the head of the request but what has to be there. */
export async function ask(endpoint: string, method: string, params: Message = {}): Promise<Message> {
	lastId += 1;
	const id = lastId;
	const {message} = await postText(endpoint, JSON.stringify({jsonrpc: '2.0', method, id, params}));
	if (message.id !== id) throw new Error(`This answers something else: ${JSON.stringify(message)}`);
	return message;
}

/** Calls a tool, and resolves to the answer, be it a result or an error. */
export const call = (endpoint: string, name: string, args: Message = {}): Promise<Message> =>
	ask(endpoint, 'tools/call', {name, arguments: args});

/** The text of a tool's result. It fails where there is none. */
export function textOf(answer: Message): string {
	const {content} = (answer.result ?? {}) as {content?: ReadonlyArray<{type: string; text: string}>};
	if (content?.[0]?.type !== 'text') throw new Error(`This is no text: ${JSON.stringify(answer)}`);
	return content[0].text;
}

/** Calls a tool that has to succeed, and resolves to its text. */
export const done = async (endpoint: string, name: string, args: Message = {}): Promise<string> =>
	textOf(await call(endpoint, name, args));

/** The error in an answer. It fails where there is none. */
export function failureOf(answer: Message): Failure {
	if (answer.error === undefined) throw new Error(`This is no error: ${JSON.stringify(answer)}`);
	return answer.error as Failure;
}

export const toolsOf = async (endpoint: string): Promise<readonly Tool[]> =>
	((await ask(endpoint, 'tools/list')).result as {tools: Tool[]}).tools;
