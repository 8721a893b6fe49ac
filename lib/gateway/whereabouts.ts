import type {IncomingMessage, ServerResponse} from 'node:http';
import type {Envelope} from '../envelope.js';
import {BridgeError} from '../errors.js';
import {type Refused, refuse} from '../http/refuse.js';
import type {Reachable} from '../replicas/forwarder.js';
import {FORWARDED} from '../replicas/hop.js';
import type {Replicas} from '../replicas/replicas.js';
import type {Holder, Owner} from '../replicas/session-ids.js';
import {memberText} from '../wire/member.js';
import {type Beginning, beginSession, type Ground} from './begin-session.js';
import type {Bodies} from './bodies.js';
import {overloaded} from './refusals.js';
import type {Service} from './service.js';
import type {Sessions} from './sessions.js';

/** The id of no session. */
const NONE = '';

/** Where a session is: here, under the id that it has among replicas; at another replica; or nowhere, for want of room. */
export type Whereabouts = {readonly here: string} | {readonly owner: Reachable} | {readonly refused: Refused};

/** Finds the session that a client knows by this id, and carries it on here if it can be. */
export function whereaboutsOf(
	{ground, replicas}: {readonly ground: Ground; readonly replicas: Replicas},
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
 * The replica that has the call which a client without sessions comes back to; or, if that is this one, where the client
 * was when it called.
 */
export function parkedAt(
	replicas: Replicas,
	req: IncomingMessage,
	{bytes}: Envelope,
	holder: Holder,
): {readonly owner: Reachable} | {readonly from: string} | undefined {
	const state = req.headers['mcp-method'] === undefined ? undefined : memberText(bytes, ...STATE);
	const named = state?.startsWith('"') ? replicas.read(JSON.parse(state), holder) : undefined;
	if (!named || !('instance' in named.place)) return;
	if (replicas.isSelf(named.place)) return {from: named.id};
	return elsewhere(named.place, req);
}

const STATE = ['params', 'requestState'] as const;

/** A request goes from one replica to another, and no further. */
function elsewhere(
	{instance, address}: Owner,
	req: IncomingMessage,
): {readonly owner: Reachable} | undefined {
	if (address === undefined || req.headers[FORWARDED] !== undefined) return;
	return {owner: {instance, address}};
}

type Means = {readonly replicas: Replicas; readonly bodies: Bodies; readonly sessions: Sessions};

/** Hands a request to the replica that has its session. */
export function forward(
	{replicas: {forwarder}, bodies, sessions}: Means,
	owner: Reachable,
	req: IncomingMessage,
	res: ServerResponse,
	{config: {name, timeoutMs}}: Service,
): Refused | undefined {
	const common = {req, res, owner, timeoutMs, unknown: () => sessions.unknown(name)};
	if (req.method !== 'POST') return void forwarder.forward(common);
	const problem = bodies.problem(req);
	if (problem) return problem;
	bodies.read(req, res, (body, refused) => {
		if (body) void forwarder.forward({...common, body});
		else refuse(res, refused ?? {status: 400, message: 'Bad Request'});
	});
	return;
}
