import {isDeprecated, outlook} from '../protocol/report.js';
import type {Session} from '../protocol/session.js';
import {MODERN} from '../protocol/version.js';
import type {Service} from './service.js';

/** What `/status` says of a service. */
export function statusOf(service: Service, sessions: number): {readonly [key: string]: unknown} {
	const {config, seen} = service;
	const session = service.lastSession;
	const {version} = service;
	// A server that does not have streamable HTTP is reached over HTTP+SSE.
	const transport = session?.transport ?? config.transport;
	const isModern = version === MODERN;
	return {
		state: service.state,
		transport,
		version: version ?? null,
		answered: isModern ? MODERN : answeredVersion(session),
		deprecated: isDeprecated(version),
		outlook: (session && !isModern && outlook(session, transport)) || null,
		lost: Object.fromEntries(service.losses()),
		tools: seen.toolCount ?? null,
		sessions,
		restarts: service.restarts,
		lastError: service.lastError ?? null,
	};
}

/** What the server itself said that it speaks, which need not be a version that there is. */
const answeredVersion = (session: Session | undefined): unknown => session?.answeredVersion ?? null;
