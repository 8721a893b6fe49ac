import {readdirSync, readFileSync} from 'node:fs';
import {isMcpVersion} from './mcp-version.js';
import type {RequestsById, SentRequest} from './validity/rules.js';
import type {Validator} from './validity/validators.js';

export type Case = {
	readonly name: string;
	readonly rule: string;
	readonly mode: 'both' | 'lenient' | 'strict';
	readonly from: string;
	readonly to: string;
	readonly direction: 'client->server' | 'server->client';
	readonly before: unknown;
	readonly after: unknown;
	/** Whether `after` is several messages, rather than a batch. */
	readonly afterSequence?: boolean;
	readonly afterTo: 'receiver' | 'sender';
	readonly afterVersion?: string;
	readonly afterDef?: string;
	readonly method?: string;
	readonly methods?: {readonly [id: string]: string};
	/** The reason why no schema contains this message. */
	readonly schemaExempt?: string;
	readonly state?: {readonly [name: string]: unknown};
};

const folder = new URL('../../../fixtures/translation-cases/', import.meta.url);
const files = readdirSync(folder).filter(file => file.endsWith('.json'));

/** The messages in an expected result, without the HTTP parts around them. A batch is one message. */
function messagesIn(after: unknown, {afterDef}: Case): unknown[] {
	if (Array.isArray(after)) return afterDef?.startsWith('JSONRPCBatch') ? [after] : after;
	const {http, sse} = after as {http?: {body?: unknown}; sse?: ReadonlyArray<{data?: unknown}>};
	if (http) return http.body === undefined ? [] : [http.body];
	if (sse) return sse.map(({data}) => data).filter(data => typeof data === 'object' && data !== null);
	return [after];
}

/** The request of a response in the case: one for all, or one by id, which is a number or a string. */
function requestsOf({method, methods, afterDef = ''}: Case): SentRequest | RequestsById {
	if (methods)
		return new Map(
			Object.entries(methods).flatMap(
				([id, each]): Array<[string | number, SentRequest]> => [
					[id, {method: each}],
					[Number(id), {method: each}],
				],
			),
		);
	const hasOwn = afterDef === 'InputRequiredResult' || afterDef.endsWith('Error');
	return {method: method ?? 'none', ...(hasOwn ? {definition: afterDef} : {})};
}

/** The violations in the messages that a case expects, under the version of their receiver. */
export function violationsIn(each: Case, validator: Validator): string[] {
	const version = each.afterVersion ?? each.to;
	if (!isMcpVersion(version)) return [`${version} is not a version of the protocol`];
	const messages = messagesIn(each.after, each);
	return messages.flatMap(message => validator.violations(version, message, requestsOf(each)));
}

export const cases: readonly Case[] = files.map(
	file => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Case,
);
