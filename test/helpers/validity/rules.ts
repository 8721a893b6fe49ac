import type {McpVersion} from '../mcp-version.js';

export type Message = {readonly [member: string]: unknown};

/** The request that a response belongs to; `definition` where its method does not determine the response. */
export type Request = {readonly method: string; readonly definition?: string};
export type RequestsById = ReadonlyMap<string | number, Request>;

/** What an authority says of the messages of one version. Each function returns the violations it finds. */
export interface Rules {
	readonly version: McpVersion;
	/** Of a request or a notification. */
	ofCall(message: Message): string[];
	ofError(message: Message, request: Request | undefined): string[];
	ofResult(message: Message, request: Request): string[];
}

export const isObject = (value: unknown): value is Message =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** The methods whose result may ask for input. */
export const mayNeedInput: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

function ofOne(rules: Rules, message: unknown, requests?: Request | RequestsById): string[] {
	if (!isObject(message)) return ['the message is not an object'];
	if ('method' in message) return rules.ofCall(message);
	const request = requests && 'method' in requests ? requests : requests?.get(message.id as string | number);
	if ('error' in message) return rules.ofError(message, request);
	if (!('result' in message)) return ['the message is neither a request nor a response'];
	return request ? rules.ofResult(message, request) : ['the result belongs to an unknown request'];
}

function ofBatch(rules: Rules, batch: readonly unknown[], requests?: Request | RequestsById): string[] {
	if (rules.version !== '2025-03-26') return [`${rules.version} has no batches`];
	const all = batch.flatMap((each, index) =>
		ofOne(rules, each, requests).map(violation => `[${index}] ${violation}`),
	);
	const calls = batch.filter(each => isObject(each) && 'method' in each);
	if (calls.length > 0 && calls.length < batch.length) all.push('the batch mixes requests and responses');
	// The next two are in the text of the specification only: a schema cannot express them.
	if (batch.length === 0) all.push('the batch is empty');
	if (calls.some(each => isObject(each) && each.method === 'initialize'))
		all.push('the batch contains initialize');
	return all;
}

/** The violations in a message or a batch. A result is checked against its request: one for all, or one by id. */
export const violationsUnder = (
	rules: Rules,
	message: unknown,
	requests?: Request | RequestsById,
): string[] => (Array.isArray(message) ? ofBatch(rules, message, requests) : ofOne(rules, message, requests));
