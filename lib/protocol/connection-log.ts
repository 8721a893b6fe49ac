import type {Log} from '../core/log.js';
import type {SpanFields} from '../core/span.js';
import {type JsonObject, objectOf} from '../util/json.js';
import type {Negotiation} from './negotiation.js';
import {isHandshakeVersion, NEWEST_HANDSHAKE, STATELESS, type Version} from './version.js';

/** Deprecated features. A capability with the same name indicates that the feature is used. */
const deprecatedFeatures = ['logging', 'sampling', 'roots'] as const;

const SSE_NOTICE = 'HTTP+SSE may be removed from the specification since 2026-09-03';

/** Whether a version is deprecated: a handshake version that a newer handshake version superseded. */
export const isDeprecated = (version: Version | undefined): boolean =>
	isHandshakeVersion(version) && version !== NEWEST_HANDSHAKE;

/**
 * Describes when the protocol of an upstream may lose support; undefined if nothing is deprecated. Versions
 * have no end date, only features do.
 */
export function deprecationNotice(negotiation: Negotiation, transport: string): string | undefined {
	const {upstreamVersion: upstream, initializeResult, clientCapabilities} = negotiation;
	if (upstream === undefined || upstream === STATELESS) return;
	const used = {...clientCapabilities, ...objectOf(objectOf(initializeResult).capabilities)};
	const features = deprecatedFeatures.filter(feature => feature in used);
	const versionNotice = `${upstream} is superseded by ${STATELESS}, with no end date`;
	const featureNotice = `${features.join(', ')} may be removed in the first version on or after 2027-07-28`;
	const notices = [
		...(isDeprecated(upstream) ? [versionNotice] : []),
		...(features.length > 0 ? [featureNotice] : []),
		...(transport === 'sse' ? [SSE_NOTICE] : []),
	];
	return notices.length === 0 ? undefined : `${notices.join('; ')}.`;
}

export const HUB_TRANSPORT = 'hub';

/** The fields of `proxy.connect` except `server`, `toolCount`, `duration` and `status`. */
export function connectionFields(negotiation: Negotiation, transport: string, result: unknown): SpanFields {
	const {clientVersion: client, upstreamVersion: version} = negotiation;
	const {name, version: release} = objectOf(objectOf(result).serverInfo);
	const used = negotiation.transport ?? transport;
	return {
		type: used === 'stdio' ? 'stdio' : 'http',
		transport: used,
		...(version && {version, era: version === STATELESS ? 'modern' : 'handshake'}),
		...(client && {clientVersion: client}),
		...(typeof name === 'string' && {serverName: name}),
		...(typeof release === 'string' && {serverVersion: release}),
	};
}

/**
 * Logs a connection, and the version in use after each reconnect. The hub logs its own upstreams once it has
 * their tools.
 */
export function logConnection(
	negotiation: Negotiation,
	log: Log,
	{transport, result, durationMs}: {transport: string; result: JsonObject; durationMs?: number | undefined},
): void {
	const {clientVersion: client, upstreamVersion: version} = negotiation;
	const {upstream: server, isHub = false} = negotiation.options;
	if (transport === HUB_TRANSPORT) {
		log.info('hub.client', `The client of the hub uses protocol ${client}.`, {clientVersion: client});
		return;
	}
	const fields = connectionFields(negotiation, transport, result);
	const notice = deprecationNotice(negotiation, String(fields.transport));
	if (!isHub)
		log.info('proxy.connect', `${server} uses protocol ${version}; the client uses ${client}.`, {
			server,
			type: fields.type,
			toolCount: null,
			...fields,
			duration: seconds(durationMs),
			status: 'SUCCESS',
		});
	if (notice !== undefined) log.debug('proxy.outlook', `${server}: ${notice}`, {server, version});
}

const seconds = (ms: number | undefined): number | null => (ms === undefined ? null : Math.round(ms) / 1000);

/** Counts a loss, and logs the first one of each feature. */
export function logLoss(
	{losses, options, clientVersion: client, upstreamVersion: upstream}: Negotiation,
	log: Log,
	feature: string,
): void {
	const {upstream: server} = options;
	const count = losses.get(feature) ?? 0;
	losses.set(feature, count + 1);
	if (count > 0) return;
	const versions = `${server} uses protocol ${upstream} and the client ${client}`;
	const sentence = `${feature} cannot be translated: ${versions}, and one of them does not support it.`;
	log.warn('proxy.feature.lost', sentence, {server, feature, version: upstream, clientVersion: client});
}
