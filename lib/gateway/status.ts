import {deprecationNotice, isDeprecated} from '../protocol/connection-log.js';
import type {Negotiation} from '../protocol/negotiation.js';
import {STATELESS} from '../protocol/version.js';
import type {Service} from '../upstream/service.js';

export function serviceStatus(service: Service, sessions: number): {readonly [key: string]: unknown} {
	const {config, health} = service;
	const negotiation = service.lastNegotiation;
	const {version} = service;
	// Differs from the configured transport if bridge fell back to HTTP+SSE.
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

/** The version that the upstream reported, which need not be a known one. */
const answeredVersion = (negotiation: Negotiation | undefined): unknown =>
	negotiation?.reportedVersion ?? null;
