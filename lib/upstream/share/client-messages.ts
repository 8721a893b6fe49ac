import {cancellationFor} from '../../core/edit-message.js';
import {Envelope} from '../../core/envelope.js';
import {BridgeError} from '../../core/errors.js';
import {warnRateLimited} from '../../core/warn-rate-limited.js';
import {isLogLevel} from '../../protocol/log-levels.js';
import {type JsonObject, objectOf} from '../../util/json.js';
import {shortened} from '../../util/printable.js';
import {marks} from '../../wire/marks.js';
import {memberRange, memberText} from '../../wire/member.js';
import type {ClientMultiplexer} from './client-multiplexer.js';
import type {SharedClient} from './shared-client.js';
import {checkTaskOwner, filterOwnTasks} from './task-ownership.js';

/** Forwards a message of a client to the upstream, with ids that are unique across clients. */
export function handleClientMessage(
	multiplexer: ClientMultiplexer,
	client: SharedClient,
	envelope: Envelope,
): void {
	const {id, method} = envelope.head;
	if (method === undefined) handleResponse(multiplexer, client, envelope);
	else if (id === undefined) handleNotification(multiplexer, client, envelope, method);
	else handleRequest(multiplexer, client, envelope, id, method);
}

function handleRequest(
	multiplexer: ClientMultiplexer,
	client: SharedClient,
	envelope: Envelope,
	id: string,
	method: string,
): void {
	switch (method) {
		case 'initialize':
			storeClientInfo(client, objectOf(envelope.body.params));
			client.send(Envelope.response(id, 'result', multiplexer.initializeResult, client.origin, String));
			return;
		case 'resources/subscribe':
			subscribe(multiplexer, client, envelope, id);
			return;
		case 'resources/unsubscribe':
			if (multiplexer.subscriptions.remove(client, uriOf(envelope)))
				forwardRequest(multiplexer, client, envelope);
			else client.send(Envelope.response(id, 'result', {}, client.origin));
			return;
		case 'logging/setLevel':
			setLevel(multiplexer, client, envelope, id);
			return;
		case 'tasks/list':
			forwardRequest(multiplexer, client, envelope, response =>
				client.send(filterOwnTasks(multiplexer, client, response, id)),
			);
			return;
		default:
			if (method.startsWith('tasks/') && !checkTaskOwner(multiplexer, client, envelope, id)) return;
			forwardRequest(multiplexer, client, envelope);
	}
}

function storeClientInfo(client: SharedClient, {clientInfo, capabilities}: JsonObject): void {
	client.info = objectOf(clientInfo);
	client.capabilities = objectOf(capabilities);
	client.hasInitializeResult = true;
}

/** Forwards a request under an id and a progress token that are unique across clients. */
function forwardRequest(
	multiplexer: ClientMultiplexer,
	client: SharedClient,
	envelope: Envelope,
	onResponse?: (response: Envelope) => void,
): void {
	const {id = '', method = ''} = envelope.head;
	const {origin} = envelope;
	const pending = multiplexer.pending.add({id, client, origin, method, onResponse});
	const tokenRange = progressTokenRange(envelope);
	if (tokenRange)
		pending.upstreamToken = multiplexer.progressTokens.register(
			client,
			envelope.line.toString('utf8', ...tokenRange),
		);
	const renamed = tokenRange
		? envelope.withTextAt(tokenRange, JSON.stringify(pending.upstreamToken))
		: envelope;
	multiplexer.send(renamed.forwardedAs(origin, pending.upstreamId));
}

/** The position of a request's progress token. Most requests have none, and the mark saves the search. */
function progressTokenRange(envelope: Envelope): readonly [start: number, end: number] | undefined {
	const {head, line} = envelope;
	if ((head.marks & marks.progressToken) === 0) return;
	const range = memberRange(envelope.bytes, 'params', '_meta', 'progressToken');
	return range && /["\d-]/.test(String.fromCharCode(line[range[0]] ?? 0)) ? range : undefined;
}

const uriOf = ({body: {params}}: Envelope): string => String(objectOf(params).uri);

function subscribe(
	multiplexer: ClientMultiplexer,
	client: SharedClient,
	envelope: Envelope,
	id: string,
): void {
	const {subscriptions} = multiplexer;
	const added = subscriptions.add(client, uriOf(envelope), response =>
		client.send(
			response?.forwardedAs(client.origin, id) ?? Envelope.response(id, 'result', {}, client.origin),
		),
	);
	if (!added) return;
	try {
		forwardRequest(multiplexer, client, envelope, response => subscriptions.settle(added, response));
	} catch (error) {
		if (!(error instanceof BridgeError)) throw error;
		subscriptions.settle(added, Envelope.errorResponse(id, error));
	}
}

/** Sends the upstream the most verbose level of all clients. */
function setLevel(
	multiplexer: ClientMultiplexer,
	client: SharedClient,
	envelope: Envelope,
	id: string,
): void {
	const {logLevels, clients} = multiplexer;
	const {level} = objectOf(envelope.body.params);
	if (!isLogLevel(level)) {
		forwardRequest(multiplexer, client, envelope);
		return;
	}
	logLevels.set(client, level);
	const effectiveLevel = logLevels.effectiveLevel(clients);
	if (effectiveLevel === logLevels.upstreamLevel) {
		client.send(Envelope.response(id, 'result', {}, client.origin));
		return;
	}
	const at = memberRange(envelope.bytes, 'params', 'level');
	const forwarded =
		at && effectiveLevel !== level ? envelope.withTextAt(at, JSON.stringify(effectiveLevel)) : envelope;
	forwardRequest(multiplexer, client, forwarded, response => {
		if (response.head.hasError) logLevels.unset(client);
		else logLevels.upstreamLevel = effectiveLevel;
		client.send(response.forwardedAs(client.origin, id));
	});
}

/** Forwards a response, but only from the client that got the request. */
function handleResponse(
	{serverRequests, log, send, name}: ClientMultiplexer,
	client: SharedClient,
	envelope: Envelope,
): void {
	const {key} = envelope.head;
	const serverRequest = key === undefined ? undefined : serverRequests.take(client, key);
	if (serverRequest) {
		send(envelope.forwardedAs(envelope.origin, serverRequest.id));
		return;
	}
	const message = `${client.label} sent a response to a request that ${name} did not send; it was dropped.`;
	const fields = {id: shortened(key ?? 'null'), server: name};
	warnRateLimited(log, 'rpc.orphan_response', message, fields, name);
}

function handleNotification(
	multiplexer: ClientMultiplexer,
	client: SharedClient,
	envelope: Envelope,
	method: string,
): void {
	switch (method) {
		case 'notifications/initialized':
			client.isInitialized = true;
			multiplexer.syncLogLevel();
			return;
		case 'notifications/cancelled': {
			const id = memberText(envelope.bytes, 'params', 'requestId');
			const pending = id === undefined ? undefined : multiplexer.pending.cancel(client, id);
			if (pending) multiplexer.send(cancellationFor(envelope, pending.upstreamId));
			return;
		}
		case 'notifications/progress': {
			const token = memberText(envelope.bytes, 'params', 'progressToken');
			if (token !== undefined && multiplexer.serverRequests.hasToken(client, token))
				multiplexer.send(envelope);
			return;
		}
		default:
			multiplexer.send(envelope);
	}
}
