import {injectSession} from '../operators/inject-session.js';
import {normaliseHeaders} from '../operators/normalise-headers.js';
import {objectOf} from '../protocol/json.js';
import {Session} from '../protocol/session.js';
import {isModernRequest} from '../protocol/v2026-07-28.js';
import {isHandshakeVersion, MODERN} from '../protocol/version.js';
import {behind, type Endpoint, perMessage, type Stage} from '../stage.js';
import {type HttpClientOptions, httpClient} from './http-client.js';

/** A server behind streamable HTTP, with the headers and the session that it wants: for who asks it without a pipeline. */
export function overHttp(options: HttpClientOptions): Endpoint {
	const {name: upstream, log} = options;
	const session = new Session({upstream});
	const stages = [
		followVersion(session),
		normaliseHeaders({session}),
		injectSession({upstream, log, ownId: () => session.ownId()}),
	];
	return behind(stages, httpClient(options));
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
