import {fileURLToPath} from 'node:url';
import {type Command, peersFolder, peerUrl} from './peers.js';

/* The five versions of MCP, and a server for each of them. */

export const versions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const;

export type Version = (typeof versions)[number];

/**
 * Whether a version is of the stateless era: no handshake, no server requests. Versions are dates, so they
 * compare as strings.
 */
export function isModern(version: Version): boolean {
	return version >= '2026-07-28';
}

/** An SDK release, the newest version that it supports, and the location of its modules. */
export interface Release {
	readonly sdk: string;
	readonly version: Version;
	readonly folder: URL;
}

const packageUrl = (path: string): URL => new URL(`../../node_modules/${path}`, peersFolder);

/** The SDK releases for clients: one of the time of each version, and the last one of the handshake era. */
export const releases: readonly Release[] = [
	{sdk: '1.0.1', version: '2024-11-05', folder: packageUrl('sdk-2024-11-05/dist/')},
	{sdk: '1.11.5', version: '2025-03-26', folder: packageUrl('sdk-2025-03-26/dist/esm/')},
	{sdk: '1.14.0', version: '2025-06-18', folder: packageUrl('sdk-2025-06-18/dist/esm/')},
	{sdk: '1.25.3', version: '2025-11-25', folder: packageUrl('sdk-2025-11-25/dist/esm/')},
	{sdk: '1.32.2', version: '2025-11-25', folder: peerUrl('@modelcontextprotocol/sdk/dist/esm/')},
	{sdk: '2.4.0', version: '2026-07-28', folder: packageUrl('sdk-2026-07-28/dist/')},
];

export function fixtureFile(name: 'fixture-handshake' | 'fixture-modern'): string {
	return fileURLToPath(new URL(`servers/${name}.mjs`, peersFolder));
}

/**
 * A server of the handshake era. `env` contains its FIXTURE_… variables; `marker` identifies its process
 * in /proc.
 */
export function handshakeServer(marker: string, env: Readonly<Record<string, string>>): Command {
	return {command: process.execPath, args: [fixtureFile('fixture-handshake'), marker], env};
}

/** A server that supports only this version. */
export function serverOf(version: Version, marker: string): Command {
	if (isModern(version)) {
		return {command: process.execPath, args: [fixtureFile('fixture-modern'), 'reject', marker]};
	}

	return handshakeServer(marker, {FIXTURE_VERSIONS: version});
}

interface Feature {
	readonly name: string;
	readonly since: Version;
	/** The only era in which servers have this tool or prompt. Default: both. */
	readonly era?: 'handshake' | 'modern';
}

const always = '2024-11-05';

const tools: readonly Feature[] = [
	{name: 'test_simple_text', since: always},
	{name: 'test_image_content', since: always},
	{name: 'test_audio_content', since: '2025-03-26'},
	{name: 'test_embedded_resource', since: always},
	{name: 'test_multiple_content_types', since: always},
	{name: 'test_error_handling', since: always},
	{name: 'json_schema_2020_12_tool', since: '2025-11-25'},
	{name: 'bridge_structured', since: '2025-06-18'},
	{name: 'bridge_resource_link', since: '2025-06-18'},
	{name: 'test_tool_with_logging', since: always},
	{name: 'test_tool_with_progress', since: always},
	{name: 'bridge_echo', since: always},
	{name: 'bridge_slow', since: always},
	{name: 'bridge_cancelled', since: always},
	{name: 'bridge_change', since: always},
	{name: 'test_sampling', since: always, era: 'handshake'},
	{name: 'bridge_roots', since: always, era: 'handshake'},
	{name: 'test_elicitation', since: '2025-06-18', era: 'handshake'},
	{name: 'test_elicitation_sep1330_enums', since: '2025-11-25', era: 'handshake'},
	{name: 'test_input_required_result_elicitation', since: always, era: 'modern'},
	{name: 'test_input_required_result_sampling', since: always, era: 'modern'},
	{name: 'test_input_required_result_list_roots', since: always, era: 'modern'},
	{name: 'test_input_required_result_multiple_inputs', since: always, era: 'modern'},
	{name: 'test_input_required_result_multi_round', since: always, era: 'modern'},
	{name: 'test_missing_capability', since: always, era: 'modern'},
	{name: 'bridge_array_output', since: always, era: 'modern'},
];

const prompts: readonly Feature[] = [
	{name: 'test_simple_prompt', since: always},
	{name: 'test_prompt_with_arguments', since: always},
	{name: 'test_prompt_with_embedded_resource', since: always},
	{name: 'test_prompt_with_image', since: always},
	{name: 'bridge_prompt_with_audio', since: '2025-03-26'},
	{name: 'bridge_prompt_with_link', since: '2025-06-18'},
];

function namesOf(features: readonly Feature[], version: Version): string[] {
	const era = isModern(version) ? 'modern' : 'handshake';
	return features
		.filter(feature => feature.since <= version && (feature.era ?? era) === era)
		.map(feature => feature.name)
		.sort();
}

/** The sorted names of the tools of this version's server. */
export const toolsOf = (version: Version): string[] => namesOf(tools, version);

export const promptsOf = (version: Version): string[] => namesOf(prompts, version);
