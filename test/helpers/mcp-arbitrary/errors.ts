import fc from 'fast-check';
import type {McpVersion} from '../mcp-version.js';
import {urlElicitation} from './elicitation.js';
import {clientCapabilities} from './features.js';
import {json, listOf, objectOf, since, text, uri, type Values, type ValuesByName} from './values.js';

/** An error object. `definition` is the schema's definition of its code, if there is one. */
export type Failure = {readonly error: Values; readonly definition?: string};

const failure = (code: number, data: fc.Arbitrary<unknown>): Values =>
	objectOf({code: fc.constant(code), message: text, data});

const anyError = objectOf(
	{
		code: fc.oneof(fc.constantFrom(-32700, -32600, -32601, -32602, -32603, -32000), fc.integer()),
		message: text,
	},
	{data: json.value} satisfies ValuesByName,
);

/** The errors that only servers send. */
function serverFailures(version: McpVersion, method: string): Failure[] {
	if (since(version, '2026-07-28'))
		return [
			{error: failure(-32020, json.value), definition: 'HeaderMismatchError'},
			{
				error: failure(-32021, objectOf({requiredCapabilities: clientCapabilities(version)})),
				definition: 'MissingRequiredClientCapabilityError',
			},
			{
				error: failure(-32022, objectOf({supported: listOf(text), requested: text})),
				definition: 'UnsupportedProtocolVersionError',
			},
		];
	const notFound = {error: failure(-32002, objectOf({uri}))};
	const elicitations = listOf(urlElicitation(version));
	return [
		...(method === 'resources/read' ? [notFound] : []),
		...(version === '2025-11-25' && method === 'tools/call'
			? [{error: failure(-32042, objectOf({elicitations})), definition: 'URLElicitationRequiredError'}]
			: []),
	];
}

export const failuresOf = (version: McpVersion, sender: 'client' | 'server', method: string): Failure[] => [
	{error: anyError},
	...(sender === 'server' ? serverFailures(version, method) : []),
];
