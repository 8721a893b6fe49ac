import type {Envelope} from '../core/envelope.js';
import {behind, type Endpoint, perMessage, type Stage} from '../core/stage.js';
import {MESSAGE_LIMIT} from '../operators/frame.js';
import {injectSession} from '../operators/inject-session.js';
import {headersFor, normalizeHeaders} from '../operators/normalize-headers.js';
import {Negotiation} from '../protocol/negotiation.js';
import {isStatelessMessage} from '../protocol/stateless-message.js';
import {isHandshakeVersion, STATELESS} from '../protocol/version.js';
import {memberRange} from '../wire/member.js';
import {type RemoteUpstreamOptions, remoteUpstream} from './remote.js';

type StandaloneUpstreamOptions = Pick<RemoteUpstreamOptions, 'name' | 'url' | 'log' | 'headers'> & {
	readonly maxBytes?: number;
};

/** A remote upstream that handles headers and sessions itself, for callers without a pipeline. */
export function standaloneUpstream({
	maxBytes = MESSAGE_LIMIT,
	...options
}: StandaloneUpstreamOptions): Endpoint {
	const {name: upstream, log, url, headers} = options;
	const negotiation = new Negotiation({upstream});
	const transport = url.protocol.startsWith('ws') ? 'ws' : 'http';
	const ownId = (): string => negotiation.nextRequestId();
	const endpoint = remoteUpstream({
		...options,
		maxBytes,
		transport,
		isTransportGuessed: true,
		ownId,
		onReinitialized: (...args) => negotiation.reinitialized(...args),
		onDisconnect: () => {},
	});
	if (transport === 'ws') return endpoint;
	const stages = [
		followVersion(negotiation),
		normalizeHeaders(headersFor({negotiation, headers: headers()})),
		injectSession({
			upstream,
			log,
			nextRequestId: ownId,
			onReinitialized: (...args) => negotiation.reinitialized(...args),
		}),
	];
	return behind(stages, endpoint);
}

/** Maximum length of a protocol version, in bytes. */
const MAX_VERSION = 64;

/** Returns the version in a result, without parsing the message. */
function versionIn({head, bytes}: Envelope): unknown {
	const at = head.flaw === undefined && head.hasResult && memberRange(bytes, 'result', 'protocolVersion');
	return at && at[1] - at[0] <= MAX_VERSION ? JSON.parse(bytes.toString('utf8', ...at)) : undefined;
}

/** Records the upstream's version from the messages in both directions. */
const followVersion = (negotiation: Negotiation): Stage =>
	perMessage({
		toUpstream(envelope) {
			if (isStatelessMessage(envelope)) negotiation.setUpstreamVersion(STATELESS);
			return envelope;
		},
		toClient(envelope) {
			const version = versionIn(envelope);
			if (isHandshakeVersion(version)) negotiation.setUpstreamVersion(version);
			return envelope;
		},
	});
