import {BATCH_VERSION} from '../../../lib/protocol/version.js';
import type {McpVersion} from '../mcp-version.js';

export type Message = {readonly [member: string]: unknown};

/** The request that a response belongs to; `definition` where its method does not determine the response. */
export type SentRequest = {readonly method: string; readonly definition?: string};
export type RequestsById = ReadonlyMap<string | number, SentRequest>;

/** The rules of one reference for one version. Each method returns the violations. */
export interface Rules {
	readonly version: McpVersion;
	validateCall(message: Message): string[];
	validateError(message: Message, request: SentRequest | undefined): string[];
	validateResult(message: Message, request: SentRequest): string[];
}

export const isObject = (value: unknown): value is Message =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

export const mayNeedInput: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

function validateMessage(rules: Rules, message: unknown, requests?: SentRequest | RequestsById): string[] {
	if (!isObject(message)) return ['the message is not an object'];
	if ('method' in message) return rules.validateCall(message);
	const request = requests && 'method' in requests ? requests : requests?.get(message.id as string | number);
	if ('error' in message) return rules.validateError(message, request);
	if (!('result' in message)) return ['the message is neither a request nor a response'];
	return request ? rules.validateResult(message, request) : ['the result belongs to an unknown request'];
}

function validateBatch(
	rules: Rules,
	batch: readonly unknown[],
	requests?: SentRequest | RequestsById,
): string[] {
	if (rules.version !== BATCH_VERSION) return [`${rules.version} has no batches`];
	const all = batch.flatMap((each, index) =>
		validateMessage(rules, each, requests).map(violation => `[${index}] ${violation}`),
	);
	const calls = batch.filter(each => isObject(each) && 'method' in each);
	if (calls.length > 0 && calls.length < batch.length) all.push('the batch mixes requests and responses');
	// The next two are in the text of the specification only: a schema cannot express them.
	if (batch.length === 0) all.push('the batch is empty');
	if (calls.some(each => isObject(each) && each.method === 'initialize'))
		all.push('the batch contains initialize');
	return all;
}

/** Validates a message or a batch. A result is validated for its request: one for all, or one by id. */
export const validate = (rules: Rules, message: unknown, requests?: SentRequest | RequestsById): string[] =>
	Array.isArray(message)
		? validateBatch(rules, message, requests)
		: validateMessage(rules, message, requests);
