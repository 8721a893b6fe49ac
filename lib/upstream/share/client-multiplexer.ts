import {randomBytes} from 'node:crypto';
import {bridgeOrigin, Envelope} from '../../core/envelope.js';
import type {BridgeError} from '../../core/errors.js';
import type {Log} from '../../core/log.js';
import {type JsonObject, objectOf, toText} from '../../util/json.js';
import {shortened} from '../../util/printable.js';
import {ClientLogLevels} from './client-log-levels.js';
import {OwnerMap} from './owner-map.js';
import {ProgressTokens} from './progress-tokens.js';
import {ResourceSubscriptions} from './resource-subscriptions.js';
import type {SharedClient} from './shared-client.js';
import {SharedPendingRequests} from './shared-pending-requests.js';
import {SharedServerRequests, undeliverableResponse} from './shared-server-requests.js';

type ClientMultiplexerOptions = {
	readonly name: string;
	readonly log: Log;
	readonly send: (envelope: Envelope) => void;
};

/** The per-client state of a shared upstream: pending requests, subscriptions, log levels and owners. */
export class ClientMultiplexer {
	readonly name: string;
	readonly log: Log;
	readonly send: (envelope: Envelope) => void;
	/** The result of the one `initialize`, as the upstream wrote it. */
	initializeResult = '{}';
	readonly clients = new Set<SharedClient>();
	readonly pending = new SharedPendingRequests<SharedClient>();
	readonly serverRequests = new SharedServerRequests<SharedClient>();
	readonly subscriptions = new ResourceSubscriptions<SharedClient>();
	readonly logLevels = new ClientLogLevels<SharedClient>();
	/** A random prefix keeps clients from guessing the tokens of others. */
	readonly progressTokens = new ProgressTokens<SharedClient>(`b${randomBytes(6).toString('hex')}-`);
	readonly taskOwners = new OwnerMap<SharedClient>();
	readonly elicitationOwners = new OwnerMap<SharedClient>();

	constructor({name, log, send}: ClientMultiplexerOptions) {
		this.name = name;
		this.log = log;
		this.send = send;
	}

	/** Sends a message to all initialized clients. */
	broadcast(envelope: Envelope, isReceiver: (client: SharedClient) => boolean = () => true): void {
		for (const client of this.clients)
			if (client.isInitialized && isReceiver(client)) client.send(envelope.forwardedAs(client.origin));
	}

	/** Sends a request of bridge itself. */
	request(method: string, params: JsonObject, onResult: () => void = () => {}): void {
		const onResponse = ({head, body}: Envelope): void => {
			if (!head.hasError) onResult();
			else
				this.log.warn('shared.refused', `${this.name} rejected ${method}.`, {
					server: this.name,
					reason: shortened(toText(objectOf(body.error).message)),
				});
		};
		const {upstreamId} = this.pending.add({
			id: '""',
			client: undefined,
			origin: bridgeOrigin,
			method,
			onResponse,
		});
		this.send(Envelope.of({jsonrpc: '2.0', id: Number(upstreamId), method, params}));
	}

	/** Removes a client that has disconnected, cancels its requests and releases its subscriptions. */
	removeClient(client: SharedClient, isReady: boolean): void {
		this.clients.delete(client);
		const pending = this.pending.removeClient(client);
		for (const {upstreamToken: token} of pending) if (token !== undefined) this.progressTokens.release(token);
		const serverRequests = this.serverRequests.removeClient(client);
		const uris = this.subscriptions.removeClient(client);
		this.logLevels.unset(client);
		if (!isReady) return;
		for (const {upstreamId} of pending)
			this.send(cancelledNotification(upstreamId, 'The client disconnected.'));
		for (const {id, method} of serverRequests)
			this.send(undeliverableResponse(id, method, 'the client disconnected'));
		for (const uri of uris) this.request('resources/unsubscribe', {uri});
		this.syncLogLevel();
	}

	/** Sends the upstream the most verbose level of all clients, unless it has that level already. */
	syncLogLevel(): void {
		const level = this.logLevels.effectiveLevel(this.clients);
		if (level === undefined || level === this.logLevels.upstreamLevel) return;
		this.request('logging/setLevel', {level}, () => {
			this.logLevels.upstreamLevel = level;
		});
	}

	/** Fails all pending requests. The upstream has lost its state. */
	onUpstreamClosed(error: BridgeError): void {
		for (const {id, client, upstreamToken: token, onResponse} of this.pending.takeAll()) {
			const response = Envelope.errorResponse(id, error, client?.origin);
			if (token !== undefined) this.progressTokens.release(token);
			if (onResponse) onResponse(response);
			else client?.send(response);
		}
		for (const {clientSideId, client} of this.serverRequests.takeAll())
			client.send(cancelledNotification(clientSideId, 'The server disconnected.').forwardedAs(client.origin));
		this.taskOwners.clear();
		this.elicitationOwners.clear();
		this.logLevels.upstreamLevel = undefined;
	}

	/** Restores the subscriptions and the log level after a restart. */
	onUpstreamReady(): void {
		for (const uri of this.subscriptions.uris) this.request('resources/subscribe', {uri});
		this.syncLogLevel();
	}
}

const cancelledNotification = (id: string, reason: string): Envelope =>
	Envelope.fromText(
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id},"reason":${JSON.stringify(reason)}}}`,
	);
