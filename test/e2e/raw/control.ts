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

export type Reply = {
	readonly status: number;
	readonly headers: Headers;
	readonly text: string;
	readonly message: Message;
};

/** Posts a body unchanged. */
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

/** Sends a request with only the required headers and returns the response. */
export async function ask(endpoint: string, method: string, params: Message = {}): Promise<Message> {
	lastId += 1;
	const id = lastId;
	const {message} = await postText(endpoint, JSON.stringify({jsonrpc: '2.0', method, id, params}));
	if (message.id !== id) throw new Error(`Response to another request: ${JSON.stringify(message)}`);
	return message;
}

/** Calls a tool and returns the response, either a result or an error. */
export const call = (endpoint: string, name: string, args: Message = {}): Promise<Message> =>
	ask(endpoint, 'tools/call', {name, arguments: args});

/** The text of a tool result. Throws if the response has none. */
export function textOf(response: Message): string {
	const {content} = (response.result ?? {}) as {content?: ReadonlyArray<{type: string; text: string}>};
	if (content?.[0]?.type !== 'text') throw new Error(`Not a text result: ${JSON.stringify(response)}`);
	return content[0].text;
}

/** Calls a tool and returns the text of its result. Throws on an error. */
export const done = async (endpoint: string, name: string, args: Message = {}): Promise<string> =>
	textOf(await call(endpoint, name, args));

/** The error of a response. Throws if it has none. */
export function failureOf(response: Message): Failure {
	if (response.error === undefined) throw new Error(`Not an error response: ${JSON.stringify(response)}`);
	return response.error as Failure;
}

export const toolsOf = async (endpoint: string): Promise<readonly Tool[]> =>
	((await ask(endpoint, 'tools/list')).result as {tools: Tool[]}).tools;
