import type {Log} from '../log.js';
import type {SpanFields} from '../span.js';
import {type JsonObject, objectOf} from './json.js';
import type {Session} from './session.js';
import {isHandshakeVersion, MODERN, NEWEST_HANDSHAKE, type Version} from './version.js';

/** Features that the modern version gives up, with the capability that shows that they are used. */
const deprecated = ['logging', 'sampling', 'roots'] as const;

/** The transport that came before streamable HTTP. */
const OLD_TRANSPORT = 'HTTP+SSE may be removed from the specification since 2026-09-03';

/** Whether a version is shown as deprecated: those with a handshake that a newer one with a handshake has replaced. */
export const isDeprecated = (version: Version | undefined): boolean =>
	isHandshakeVersion(version) && version !== NEWEST_HANDSHAKE;

/**
 * How long the protocol that an upstream uses will be supported, for people; undefined if there is nothing to change. No
 * version has an end date, only features have.
 */
export function outlook(session: Session, transport: string): string | undefined {
	const {upstream, initializeResult, clientCapabilities} = session;
	if (upstream === undefined || upstream === MODERN) return;
	const used = {...clientCapabilities, ...objectOf(objectOf(initializeResult).capabilities)};
	const features = deprecated.filter(feature => feature in used);
	const version = `${upstream} is superseded by ${MODERN}, with no end date`;
	const going = `${features.join(', ')} may be removed in the first version on or after 2027-07-28`;
	const notices = [
		...(isDeprecated(upstream) ? [version] : []),
		...(features.length > 0 ? [going] : []),
		...(transport === 'sse' ? [OLD_TRANSPORT] : []),
	];
	return notices.length === 0 ? undefined : `${notices.join('; ')}.`;
}

/** The transport of all servers as one, which are an endpoint in this process. */
export const HUB = 'hub';

/** What `proxy.connect` has of a connection, beside `server`, `toolCount`, `duration` and `status`. */
export function connectionFields(session: Session, transport: string, result: unknown): SpanFields {
	const {client, upstream: version} = session;
	const {name, version: release} = objectOf(objectOf(result).serverInfo);
	const used = session.transport ?? transport;
	return {
		type: used === 'stdio' ? 'stdio' : 'http',
		transport: used,
		...(version && {version, era: version === MODERN ? 'modern' : 'handshake'}),
		...(client && {clientVersion: client}),
		...(typeof name === 'string' && {serverName: name}),
		...(typeof release === 'string' && {serverVersion: release}),
	};
}

/**
 * Logs a connection, and after each reconnect the version that is in use then. The hub logs those of its servers itself, when
 * it has their tools.
 */
export function tellOfConnection(
	session: Session,
	log: Log,
	{transport, result, durationMs}: {transport: string; result: JsonObject; durationMs?: number | undefined},
): void {
	const {client, upstream: version} = session;
	const {upstream: server, isHub = false} = session.options;
	if (transport === HUB) {
		log.info('hub.client', `The client of the hub uses ${client}.`, {clientVersion: client});
		return;
	}
	const fields = connectionFields(session, transport, result);
	const notice = outlook(session, String(fields.transport));
	if (!isHub)
		log.info('proxy.connect', `${server} uses ${version}, the client ${client}.`, {
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

/** Counts what could not be carried, and tells people the first time. */
export function tellOfLoss({losses, options, client, upstream}: Session, log: Log, feature: string): void {
	const {upstream: server} = options;
	const count = losses.get(feature) ?? 0;
	losses.set(feature, count + 1);
	if (count > 0) return;
	const sentence = `${feature}: ${server} speaks ${upstream}, the client ${client}, and one of them does not have this; what could be carried was.`;
	log.warn('proxy.feature.lost', sentence, {server, feature, version: upstream, clientVersion: client});
}
