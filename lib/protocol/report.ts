import type {Log} from '../log.js';
import {objectOf} from './json.js';
import type {Session} from './session.js';
import {MODERN} from './version.js';

/** Features that the modern version gives up, with the capability that shows that they are used. */
const deprecated = ['logging', 'sampling', 'roots'] as const;

/** The transport that came before streamable HTTP. */
const OLD_TRANSPORT = 'HTTP+SSE may be removed from the specification since 2026-09-03';

/** How long what a server speaks will be spoken, for people. There is no end date for any version, only for features. */
export function outlook(session: Session, transport: string): string | undefined {
	const {upstream, initializeResult, clientCapabilities} = session;
	if (upstream === undefined || upstream === MODERN) return;
	const used = {...clientCapabilities, ...objectOf(objectOf(initializeResult).capabilities)};
	const features = deprecated.filter(feature => feature in used);
	const version = `${upstream} is superseded by ${MODERN}, with no end date`;
	const going = `${features.join(', ')} may go in the first version on or after 2027-07-28`;
	return `${[version, ...(features.length > 0 ? [going] : []), ...(transport === 'sse' ? [OLD_TRANSPORT] : [])].join('; ')}.`;
}

/** Tells that a server is there, what it speaks and for how long. */
export function tellOfConnection(session: Session, log: Log, transport: string): void {
	const {client, upstream: version, initializeResult} = session;
	const {upstream: server} = session.options;
	const {name, version: release} = objectOf(objectOf(initializeResult).serverInfo);
	log.info('proxy.connect', `${server} speaks ${version}, the client ${client}.`, {
		server,
		transport,
		version,
		era: version === MODERN ? 'modern' : 'handshake',
		clientVersion: client,
		serverName: name,
		serverVersion: release,
	});
	const notice = outlook(session, transport);
	if (notice !== undefined) log.info('proxy.outlook', `${server}: ${notice}`, {server, version});
}

/** Counts what could not be carried, and tells people the first time. */
export function tellOfLoss({losses, options, client, upstream}: Session, log: Log, feature: string): void {
	const {upstream: server} = options;
	const count = losses.get(feature) ?? 0;
	losses.set(feature, count + 1);
	if (count > 0) return;
	const sentence = `${feature}: ${server} speaks ${upstream}, the client ${client}, and one of them does not have this; what could be carried was.`;
	log.warn('proxy.feature.lost', sentence, {server, feature, version: upstream, clientVersion: client});
}
