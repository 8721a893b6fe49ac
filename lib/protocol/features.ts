import {type JsonObject, listOf, objectOf} from '../util/json.js';
import {needsWrapper} from './stateless-output.js';
import {type Version, versions} from './version.js';

/** What is known of a server: its answer to `initialize`, and its tools. */
type UpstreamFeatures = {readonly capabilities: JsonObject; readonly tools: readonly JsonObject[]};

/** Something that a version brought, and what becomes of it where one side is older. */
type Feature = {
	readonly since: Version;
	readonly name: string;
	/** For a client that is older than the server. */
	readonly olderClient?: string;
	/** For a server that is older than the client. */
	readonly olderServer?: string;
	/** Whether a server has it at all; what cannot be told beforehand it may have. */
	readonly isPresent?: (server: UpstreamFeatures) => boolean;
};

const features: readonly Feature[] = [
	{since: '2025-03-26', name: 'audio', olderClient: 'arrives as an embedded resource'},
	{since: '2025-03-26', name: 'audio in sampling', olderClient: 'is named in a line of text'},
	{since: '2025-06-18', name: 'links to resources', olderClient: 'arrive as text'},
	{since: '2025-06-18', name: 'elicitation', olderClient: 'is refused'},
	{
		since: '2025-06-18',
		name: 'structured output',
		olderClient: 'arrives as text beside it',
		isPresent: ({tools}) => tools.some(tool => 'outputSchema' in tool),
	},
	{since: '2025-11-25', name: 'elicitation by URL', olderClient: 'is refused'},
	{since: '2025-11-25', name: 'choices of several in forms', olderClient: 'become a box for each option'},
	{since: '2025-11-25', name: 'tools in sampling', olderClient: 'are refused'},
	{
		since: '2025-11-25',
		name: 'tasks',
		olderClient: 'are waited for here',
		isPresent: ({capabilities}) => 'tasks' in capabilities,
	},
	{
		since: '2026-07-28',
		name: 'output that is no object',
		olderClient: 'is the only member of one',
		isPresent: ({tools}) => tools.some(needsWrapper),
	},
	{
		since: '2026-07-28',
		name: 'tasks',
		olderServer: 'are waited for here',
		isPresent: ({capabilities}) => 'tasks' in capabilities,
	},
];

/** What a client of one version does not get, or gets otherwise, of a server of another. */
export function lossesBetween(client: Version, upstream: Version, server: UpstreamFeatures): string[] {
	const isBetween = ({since}: Feature): boolean => client < since !== upstream < since;
	return features.filter(isBetween).flatMap(({name, olderClient, olderServer, isPresent}) => {
		const effect = client < upstream ? olderClient : olderServer;
		return effect === undefined || isPresent?.(server) === false ? [] : [`${name} ${effect}`];
	});
}

/** The same for all client versions. */
export const lossesOf = (
	upstream: Version,
	server: UpstreamFeatures,
): Array<readonly [client: Version, string[]]> =>
	versions.map(client => [client, lossesBetween(client, upstream, server)]);

export const upstreamFeaturesOf = (initializeResult: JsonObject, tools: unknown): UpstreamFeatures => ({
	capabilities: objectOf(initializeResult.capabilities),
	tools: listOf(tools).map(objectOf),
});
