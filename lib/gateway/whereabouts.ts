import type {IncomingMessage, ServerResponse} from 'node:http';
import {local} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {type Refused, refuse} from '../http/refuse.js';
import type {Forwarded, Reachable} from '../replicas/passage.js';
import type {Replicas} from '../replicas/replicas.js';
import {wholeMessage} from '../transports/whole-message.js';
import {type Beginning, beginSession, type Ground} from './begin-session.js';
import type {Bodies} from './bodies.js';
import {whoseIs} from './caller.js';
import type {Caller} from './conversation.js';
import {elsewhere} from './elsewhere.js';
import {placeOf} from './posts.js';
import {overloaded} from './refusals.js';
import type {Service} from './service.js';

/** The id of no session. */
const NONE = '';

/** Where a session is: here, under the id that it has among replicas; at another replica; or nowhere, for want of room. */
type Whereabouts = {readonly here: string} | {readonly owner: Reachable} | {readonly refused: Refused};

/** Finds the session that a client knows by this id, and carries it on here if it can be. */
function whereaboutsOf(
	{ground, replicas}: Means,
	given: string,
	req: IncomingMessage,
	beginning: Beginning,
): Whereabouts {
	const {service, caller} = beginning;
	const holder = {service: service.config.name, principal: caller.principal};
	const named = replicas.read(given, holder);
	if (!named) return {here: NONE};
	const {id, place} = named;
	if ('instance' in place) {
		if (replicas.isSelf(place)) return {here: id};
		return elsewhere(place, req) ?? {here: NONE};
	}
	if (replicas.ended.has(id)) return {here: NONE};
	if (ground.sessions.find(id, holder.service, holder.principal)) return {here: id};
	if (service.config.transport !== 'http') return {here: NONE};
	try {
		beginSession(ground, beginning, {id, portable: place});
		replicas.resumed++;
		return {here: id};
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		return {refused: overloaded(error)};
	}
}

/**
 * Looks up whether the session with this id was ended at another replica, before it is resumed here. Returns undefined if
 * there is no need to wait.
 */
export function confirmed(
	{replicas, ground}: {readonly replicas: Replicas; readonly ground: Ground},
	given: string,
	{service, caller: {principal}}: {readonly service: Service; readonly caller: Caller},
): Promise<void> | undefined {
	const holder = {service: service.config.name, principal};
	const named = replicas.read(given, holder);
	if (!named || 'instance' in named.place) return;
	if (ground.sessions.find(named.id, holder.service, holder.principal)) return;
	return replicas.ended.confirm(named.id);
}

export type Means = {readonly ground: Ground; readonly replicas: Replicas; readonly bodies: Bodies};

/** A request for a service, with its body if that was read already. */
export type Asked = {
	readonly req: IncomingMessage;
	readonly res: ServerResponse;
	readonly service: Service;
	readonly caller: Caller;
	readonly body?: Buffer;
};

/**
 * Leads a request to the session with this id: to another replica, or to `take`, by the id that replicas know it by. What
 * begins a new session is for none.
 */
export function lead(
	means: Means,
	given: string,
	asked: Asked,
	take: (here: string | undefined, body?: Buffer) => Refused | undefined,
): Refused | undefined {
	const {req, service, caller} = asked;
	const found = whereaboutsOf(means, given, req, {service, caller, place: placeOf(req)});
	if ('refused' in found) return found.refused;
	if ('owner' in found)
		return forward(means, found.owner, asked, body => {
			if (given !== req.headers['mcp-session-id'] || !isFirst(body)) return false;
			delete req.headers['mcp-session-id'];
			const refused = take(undefined, body);
			if (refused) refuse(asked.res, refused);
			return true;
		});
	const {lastSessions} = means.replicas;
	const whose = lastSessions && whoseIs(req, service, caller);
	if (whose && req.method === 'DELETE') void lastSessions.forget(whose, given);
	else if (whose && found.here !== NONE) lastSessions.note(whose, given);
	// From here on it is known by the id that replicas know it by.
	req.headers['mcp-session-id'] = found.here;
	return take(found.here);
}

/** The same, once it is known whether the session was ended at another replica. */
export function leadConfirmed(
	...[means, given, asked, take]: Parameters<typeof lead>
): Refused | undefined | Promise<() => Refused | undefined> {
	const work = (): Refused | undefined => lead(means, given, asked, take);
	const doubt = confirmed(means, given, asked);
	return doubt === undefined ? work() : doubt.then(() => work);
}

const isFirst = (body: Buffer): boolean => wholeMessage(body, local).head.method === 'initialize';

/** Hands a request to the replica that has its session, unless it is taken here. */
function forward(
	{replicas: {forwarder}, bodies, ground: {sessions}}: Means,
	owner: Reachable,
	{req, res, service, body: read}: Asked,
	isTaken: (body: Buffer) => boolean,
): Refused | undefined {
	const {name, timeoutMs} = service.config;
	const common: Forwarded = {req, res, owner, timeoutMs, unknown: () => sessions.unknown(name)};
	if (req.method !== 'POST') return void forwarder.forward(common);
	if (read) return void forwarder.forward({...common, body: read});
	const problem = bodies.problem(req);
	if (problem) return problem;
	bodies.read(req, res, (body, refused) => {
		if (!body) refuse(res, refused ?? {status: 400, message: 'Bad Request'});
		else if (!isTaken(body)) void forwarder.forward({...common, body});
	});
	return;
}
