import {MESSAGE_LIMIT} from '../operators/frame.js';
import {injectSession} from '../operators/inject-session.js';
import {headersFor, normaliseHeaders} from '../operators/normalise-headers.js';
import {objectOf} from '../protocol/json.js';
import {Session} from '../protocol/session.js';
import {isModernRequest} from '../protocol/v2026-07-28.js';
import {isHandshakeVersion, MODERN} from '../protocol/version.js';
import {behind, type Endpoint, perMessage, type Stage} from '../stage.js';
import {type RemoteOptions, remote} from './remote.js';

export type OverUrlOptions = Pick<RemoteOptions, 'name' | 'url' | 'log' | 'headers'> & {
	readonly maxBytes?: number;
};

/** A server elsewhere, with the headers and the session that it wants: for who asks it without a pipeline. */
export function overUrl({maxBytes = MESSAGE_LIMIT, ...options}: OverUrlOptions): Endpoint {
	const {name: upstream, log, url, headers} = options;
	const session = new Session({upstream});
	const transport = url.protocol.startsWith('ws') ? 'ws' : 'http';
	const ownId = (): string => session.ownId();
	const endpoint = remote({
		...{...options, maxBytes, transport, isGuessed: true, ownId},
		onRevived: result => session.renewed(result),
		onLoss: () => {},
	});
	if (transport === 'ws') return endpoint;
	const stages = [
		followVersion(session),
		normaliseHeaders(headersFor({session, headers: headers()})),
		injectSession({upstream, log, ownId, onRenewed: result => session.renewed(result)}),
	];
	return behind(stages, endpoint);
}

/** Takes note of the version that is spoken, by what is said. */
const followVersion = (session: Session): Stage =>
	perMessage({
		toUpstream(envelope) {
			if (isModernRequest(envelope.head.method, envelope.body.params)) session.upstreamBecame(MODERN);
			return envelope;
		},
		toClient(envelope) {
			const {protocolVersion} = envelope.head.flaw === undefined ? objectOf(envelope.body.result) : {};
			if (isHandshakeVersion(protocolVersion)) session.upstreamBecame(protocolVersion);
			return envelope;
		},
	});
