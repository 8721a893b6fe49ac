import type {McpVersion} from '../mcp-version.js';
import {hasSchemas, schemaRules} from './json-schema.js';
import {type RequestsById, type Rules, type SentRequest, validate} from './rules.js';
import {SdkHandshakeRules} from './sdk-handshake.js';
import {SdkStatelessRules} from './sdk-stateless.js';

export interface Validator {
	/** For titles of tests. */
	readonly name: string;
	/** The violations in a message of a version; none if it is valid. */
	violations(version: McpVersion, message: unknown, requests?: SentRequest | RequestsById): string[];
}

const validatorOf = (name: string, rulesOf: (version: McpVersion) => Rules): Validator => ({
	name,
	violations: (version, message, requests) => validate(rulesOf(version), message, requests),
});

/** The official SDK release of each version. */
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
