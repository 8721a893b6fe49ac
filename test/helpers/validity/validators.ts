import type {McpVersion} from '../mcp-version.js';
import {hasSchemas, schemaRules} from './json-schema.js';
import {type Request, type RequestsById, type Rules, violationsUnder} from './rules.js';
import {SdkHandshakeRules} from './sdk-handshake.js';
import {SdkStatelessRules} from './sdk-stateless.js';

/** An authority that decides which messages are valid. */
export interface Validator {
	/** For titles of tests. */
	readonly name: string;
	/** The violations in a message of a version; none if it is valid. */
	violations(version: McpVersion, message: unknown, requests?: Request | RequestsById): string[];
}

const validatorOf = (name: string, rulesOf: (version: McpVersion) => Rules): Validator => ({
	name,
	violations: (version, message, requests) => violationsUnder(rulesOf(version), message, requests),
});

/** The rules of the official SDK of each version's time. */
export const sdkRules = {
	'2024-11-05': await SdkHandshakeRules.load('2024-11-05'),
	'2025-03-26': await SdkHandshakeRules.load('2025-03-26'),
	'2025-06-18': await SdkHandshakeRules.load('2025-06-18'),
	'2025-11-25': await SdkHandshakeRules.load('2025-11-25'),
	'2026-07-28': await SdkStatelessRules.load(),
} as const satisfies {readonly [version in McpVersion]: Rules};

export const sdk = validatorOf('SDK', version => sdkRules[version]);

/** The SDKs, and the official JSON schemas where `MCP_SCHEMA_DIR` names their folder. */
export const validators: readonly Validator[] = hasSchemas
	? [sdk, validatorOf('JSON schema', schemaRules)]
	: [sdk];
