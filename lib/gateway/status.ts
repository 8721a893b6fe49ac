import {deprecationNotice, isDeprecated} from '../protocol/connection-log.js';
import type {Negotiation} from '../protocol/negotiation.js';
import {STATELESS} from '../protocol/version.js';
import type {Service} from '../upstream/service.js';

/** What `/status` says of a service. */
export function serviceStatus(service: Service, sessions: number): {readonly [key: string]: unknown} {
	const {config, health} = service;
	const negotiation = service.lastNegotiation;
	const {version} = service;
	// A server that does not have streamable HTTP is reached over HTTP+SSE.
	const transport = negotiation?.transport ?? config.transport;
	const isModern = version === STATELESS;
	return {
		state: service.state,
		transport,
		version: version ?? null,
		answered: isModern ? STATELESS : answeredVersion(negotiation),
		deprecated: isDeprecated(version),
		outlook: (negotiation && !isModern && deprecationNotice(negotiation, transport)) || null,
		lost: Object.fromEntries(service.losses()),
		tools: health.toolCount ?? null,
		sessions,
		restarts: service.restarts,
		lastError: service.lastError ?? null,
	};
}

/** What the server itself said that it speaks, which need not be a version that there is. */
const answeredVersion = (negotiation: Negotiation | undefined): unknown =>
	negotiation?.reportedVersion ?? null;
