import {type JsonObject, listOf, objectOf} from '../util/json.js';
import {needsWrapper} from './stateless-output.js';
import {type Version, versions} from './version.js';

type UpstreamFeatures = {readonly capabilities: JsonObject; readonly tools: readonly JsonObject[]};

type Feature = {
	readonly since: Version;
	readonly name: string;
	/** The effect if the client is older than the upstream. */
	readonly olderClient?: string;
	/** The effect if the upstream is older than the client. */
	readonly olderUpstream?: string;
	/** Whether an upstream has the feature. Absent if that cannot be determined in advance. */
	readonly isPresent?: (server: UpstreamFeatures) => boolean;
};

const features: readonly Feature[] = [
	{since: '2025-03-26', name: 'audio', olderClient: 'arrives as an embedded resource'},
	{since: '2025-03-26', name: 'audio in sampling', olderClient: 'becomes a line of text'},
	{since: '2025-06-18', name: 'links to resources', olderClient: 'arrive as text'},
	{since: '2025-06-18', name: 'elicitation', olderClient: 'is rejected'},
	{
		since: '2025-06-18',
		name: 'structured output',
		olderClient: 'arrives as additional text',
		isPresent: ({tools}) => tools.some(tool => 'outputSchema' in tool),
	},
	{since: '2025-11-25', name: 'elicitation by URL', olderClient: 'is rejected'},
	{since: '2025-11-25', name: 'multi-select fields in forms', olderClient: 'become one checkbox per option'},
	{since: '2025-11-25', name: 'tools in sampling', olderClient: 'are rejected'},
	{
		since: '2025-11-25',
		name: 'tasks',
		olderClient: 'are polled by bridge',
		isPresent: ({capabilities}) => 'tasks' in capabilities,
	},
	{
		since: '2026-07-28',
		name: 'output that is not an object',
		olderClient: 'is wrapped in an object',
		isPresent: ({tools}) => tools.some(needsWrapper),
	},
	{
		since: '2026-07-28',
		name: 'tasks',
		olderUpstream: 'are polled by bridge',
		isPresent: ({capabilities}) => 'tasks' in capabilities,
	},
];

/** Returns what a client of one version loses, or receives differently, from an upstream of another. */
export function lossesBetween(client: Version, upstream: Version, server: UpstreamFeatures): string[] {
	const isBetween = ({since}: Feature): boolean => client < since !== upstream < since;
	return features.filter(isBetween).flatMap(({name, olderClient, olderUpstream, isPresent}) => {
		const effect = client < upstream ? olderClient : olderUpstream;
		return effect === undefined || isPresent?.(server) === false ? [] : [`${name} ${effect}`];
	});
}

export const lossesOf = (
	upstream: Version,
	server: UpstreamFeatures,
): Array<readonly [client: Version, string[]]> =>
	versions.map(client => [client, lossesBetween(client, upstream, server)]);

export const upstreamFeaturesOf = (initializeResult: JsonObject, tools: unknown): UpstreamFeatures => ({
	capabilities: objectOf(initializeResult.capabilities),
	tools: listOf(tools).map(objectOf),
});
