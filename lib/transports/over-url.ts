import type {Envelope} from '../envelope.js';
import {MESSAGE_LIMIT} from '../operators/frame.js';
import {injectSession} from '../operators/inject-session.js';
import {headersFor, normaliseHeaders} from '../operators/normalise-headers.js';
import {Session} from '../protocol/session.js';
import {isHandshakeVersion, MODERN} from '../protocol/version.js';
import {behind, type Endpoint, perMessage, type Stage} from '../stage.js';
import {memberRange} from '../wire/member.js';
import {isModernMessage} from './modern-message.js';
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
		...options,
		maxBytes,
		transport,
		isGuessed: true,
		ownId,
		onRevived: (...renewal) => session.renewed(...renewal),
		onLoss: () => {},
	});
	if (transport === 'ws') return endpoint;
	const stages = [
		followVersion(session),
		normaliseHeaders(headersFor({session, headers: headers()})),
		injectSession({upstream, log, ownId, onRenewed: (...renewal) => session.renewed(...renewal)}),
	];
	return behind(stages, endpoint);
}

/** No version is longer than this, in bytes. */
const MAX_VERSION = 64;

/** The version in a result, which is not parsed for it. */
function versionIn({head, bytes}: Envelope): unknown {
	const at = head.flaw === undefined && head.hasResult && memberRange(bytes, 'result', 'protocolVersion');
	return at && at[1] - at[0] <= MAX_VERSION ? JSON.parse(bytes.toString('utf8', ...at)) : undefined;
}

/** Takes note of the version that is spoken, by what is said. */
const followVersion = (session: Session): Stage =>
	perMessage({
		toUpstream(envelope) {
			if (isModernMessage(envelope)) session.upstreamBecame(MODERN);
			return envelope;
		},
		toClient(envelope) {
			const version = versionIn(envelope);
			if (isHandshakeVersion(version)) session.upstreamBecame(version);
			return envelope;
		},
	});
