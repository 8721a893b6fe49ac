import {cancellationFor} from '../../core/edit-message.js';
import {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {warnRateLimited} from '../../core/warn-rate-limited.js';
import {listOf, objectOf} from '../../util/json.js';
import {shortened} from '../../util/printable.js';
import {marks} from '../../wire/marks.js';
import {memberRange, memberText} from '../../wire/member.js';
import type {ClientMultiplexer} from './client-multiplexer.js';
import type {SharedClient} from './shared-client.js';
import {requiredCapability, undeliverableResponse} from './shared-server-requests.js';

/** Routes a message of the upstream to the clients that it is for. */
export function handleUpstreamMessage(multiplexer: ClientMultiplexer, envelope: Envelope): void {
	const {id, key, method} = envelope.head;
	if (method === undefined) handleResponse(multiplexer, envelope, key);
	else if (id === undefined) handleNotification(multiplexer, envelope, method);
	else handleServerRequest(multiplexer, envelope, id, method);
}

function handleResponse(multiplexer: ClientMultiplexer, envelope: Envelope, key: string | undefined): void {
	const pending = key === undefined ? undefined : multiplexer.pending.take(key);
	if (!pending) {
		reportOrphanResponse(multiplexer, key);
		return;
	}
	const {client, id, upstreamToken: token, onResponse} = pending;
	const isTask = client !== undefined && recordOwnership(multiplexer, client, envelope);
	// The progress of a task continues after the response that created it.
	if (token !== undefined && !isTask) multiplexer.progressTokens.release(token);
	if (onResponse) onResponse(envelope);
	else client?.send(envelope.forwardedAs(client.origin, id));
}

function reportOrphanResponse({pending, log, name}: ClientMultiplexer, key: string | undefined): void {
	const fields = {id: shortened(key ?? 'null'), server: name};
	if (key !== undefined && pending.takeAbandoned(key))
		log.debug(
			'rpc.late_response',
			`${name} responded to a request of a client that has disconnected.`,
			fields,
		);
	else {
		const message = `${name} sent a response that no client waits for; it was dropped.`;
		warnRateLimited(log, 'rpc.orphan_response', message, fields, name);
	}
}

/** Records the owner of a new task, or of a page that a client is to open. Returns whether it is a task. */
function recordOwnership(
	{taskOwners, elicitationOwners}: ClientMultiplexer,
	client: SharedClient,
	envelope: Envelope,
): boolean {
	const {head} = envelope;
	if (head.hasError && envelope.line.includes('-32042')) {
		const {data} = objectOf(envelope.body.error);
		for (const one of listOf(objectOf(data).elicitations))
			elicitationOwners.set(objectOf(one).elicitationId, client);
	}
	if (!head.hasResult || (head.marks & marks.task) === 0) return false;
	const taskId = memberText(envelope.bytes, 'result', 'task', 'taskId');
	if (taskId === undefined) return false;
	taskOwners.set(JSON.parse(taskId), client);
	return true;
}

/** Forwards a server request to a single client, or rejects it if no client supports it. */
function handleServerRequest(
	multiplexer: ClientMultiplexer,
	envelope: Envelope,
	id: string,
	method: string,
): void {
	if (method === 'ping') {
		multiplexer.send(Envelope.response(id, 'result', {}, envelope.origin));
		return;
	}
	const client = chooseClient(multiplexer, envelope, method);
	if (!client) {
		multiplexer.send(
			undeliverableResponse(id, method, 'no client with a pending call supports it', envelope.origin),
		);
		return;
	}
	try {
		const {clientSideId} = multiplexer.serverRequests.add(client, envelope);
		const {elicitationId} = method === 'elicitation/create' ? objectOf(envelope.body.params) : {};
		if (elicitationId !== undefined) multiplexer.elicitationOwners.set(elicitationId, client);
		client.send(envelope.forwardedAs(client.origin, clientSideId));
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		multiplexer.send(Envelope.errorResponse(id, error, envelope.origin));
	}
}

const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/**
 * The client for a server request: the owner of the related task, or the client of the related call. If
 * neither is known, it is the client of the latest pending request that supports the method.
 */
function chooseClient(
	multiplexer: ClientMultiplexer,
	{origin, body}: Envelope,
	method: string,
): SharedClient | undefined {
	const {pending, taskOwners, log, name} = multiplexer;
	const capability = requiredCapability(method);
	const canHandle = (client: SharedClient): boolean =>
		capability === undefined || capability in client.capabilities;
	const {taskId} = objectOf(objectOf(objectOf(body.params)._meta)[RELATED_TASK]);
	const owner = taskOwners.get(taskId);
	if (owner) return !owner.isEnded && canHandle(owner) ? owner : undefined;
	const [related, calls, all] = pending.latest(
		request => request.upstreamId === origin.relatedRequestId || request.origin === origin,
		(request, client) => request.mayNeedInput && canHandle(client),
		(_request, client) => canHandle(client),
	);
	if (related?.client) return canHandle(related.client) ? related.client : undefined;
	const {client, count = 0} = (calls?.client ? calls : all) ?? {};
	if (count > 1) {
		const message = `${name} sent ${shortened(method)}, which could be for ${count} waiting clients; the client of the latest request gets it.`;
		const fields = {server: name, method: shortened(method), clients: count};
		warnRateLimited(log, 'shared.question.ambiguous', message, fields, name);
	}
	return client;
}

function handleNotification(multiplexer: ClientMultiplexer, envelope: Envelope, method: string): void {
	switch (method) {
		case 'notifications/progress':
			forwardProgress(multiplexer, envelope);
			return;
		case 'notifications/cancelled':
			handleCancelled(multiplexer, envelope);
			return;
		case 'notifications/message': {
			const level = paramOf(envelope, 'level');
			multiplexer.broadcast(envelope, client => multiplexer.logLevels.accepts(client, level));
			return;
		}
		case 'notifications/resources/updated': {
			const receivers = multiplexer.subscriptions.subscribersOf(String(paramOf(envelope, 'uri')));
			multiplexer.broadcast(envelope, client => receivers.has(client));
			return;
		}
		case 'notifications/tasks/status':
			sendToOwner(multiplexer, envelope, multiplexer.taskOwners.get(paramOf(envelope, 'taskId')));
			return;
		case 'notifications/elicitation/complete':
			sendToOwner(
				multiplexer,
				envelope,
				multiplexer.elicitationOwners.get(paramOf(envelope, 'elicitationId')),
			);
			return;
		default:
			multiplexer.broadcast(envelope);
	}
}

function paramOf({bytes}: Envelope, name: string): unknown {
	const text = memberText(bytes, 'params', name);
	return text === undefined ? undefined : JSON.parse(text);
}

/** Sends a notification to the owner, or to all clients if the owner is unknown. */
const sendToOwner = (
	multiplexer: ClientMultiplexer,
	envelope: Envelope,
	owner: SharedClient | undefined,
): void => multiplexer.broadcast(envelope, client => owner === undefined || client === owner);

/** Forwards progress to the owner of its token. Progress without an owner is dropped. */
function forwardProgress({progressTokens, log, name}: ClientMultiplexer, envelope: Envelope): void {
	const tokenRange = memberRange(envelope.bytes, 'params', 'progressToken');
	const found =
		tokenRange && progressTokens.ownerOf(JSON.parse(envelope.bytes.toString('utf8', ...tokenRange)));
	if (tokenRange && found)
		found.owner.send(envelope.withTextAt(tokenRange, String(found.token)).forwardedAs(found.owner.origin));
	else
		log.debug('rpc.dropped', `${name} sent progress for a request that is not pending; it was dropped.`, {
			server: name,
		});
}

function handleCancelled({serverRequests, log, name}: ClientMultiplexer, envelope: Envelope): void {
	const id = memberText(envelope.bytes, 'params', 'requestId');
	const found = id === undefined ? undefined : serverRequests.cancel(id);
	if (found)
		found.client.send(cancellationFor(envelope, found.clientSideId).forwardedAs(found.client.origin));
	else log.debug('rpc.dropped', `${name} cancelled a request that it did not send.`, {server: name});
}
