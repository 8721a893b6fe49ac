import type {ExposeMode} from '../config/schema.js';
import {editMessage} from '../core/edit-message.js';
import {Envelope} from '../core/envelope.js';
import type {Log} from '../core/log.js';
import {MAX_IDENTIFIER_LENGTH} from '../core/requests/progress.js';
import {warnRateLimited} from '../core/warn-rate-limited.js';
import {objectOf} from '../util/json.js';
import {shortened} from '../util/printable.js';
import {HubServerRequests} from './hub-server-requests.js';
import type {HubUpstream} from './hub-upstream.js';
import type {HubUpstreams} from './hub-upstreams.js';
import {ListChangeNotifier} from './list-change-notifier.js';
import type {MergedLists} from './merged-lists.js';
import type {MergedTools} from './merged-tools.js';

type UpstreamMessagesOptions = {
	readonly log: Log;
	readonly send: (envelope: Envelope) => void;
	readonly upstreams: HubUpstreams;
	readonly mergedTools: MergedTools;
	readonly mergedLists: MergedLists;
	readonly expose: () => ExposeMode;
};

const serverRequestMethods = new Set(['sampling/createMessage', 'elicitation/create', 'roots/list']);

/**
 * Handles the requests and notifications of upstreams. The client receives them as if one server had sent
 * them all.
 */
export class UpstreamMessages {
	readonly #options: UpstreamMessagesOptions;
	readonly #serverRequests = new HubServerRequests();
	readonly listChanges: ListChangeNotifier;

	constructor(options: UpstreamMessagesOptions) {
		this.#options = options;
		this.listChanges = new ListChangeNotifier(options);
	}

	receive(upstream: HubUpstream, envelope: Envelope): void {
		const {id, method = ''} = envelope.head;
		if (id === undefined) this.#receiveNotification(upstream, envelope, method);
		else this.#receiveRequest(upstream, envelope, id, method);
	}

	receiveResponse(envelope: Envelope): void {
		if (this.#serverRequests.forwardResponse(envelope)) return;
		const id = shortened(envelope.head.key ?? 'null');
		const sentence = 'A response of the client matches no pending server request. It was dropped.';
		warnRateLimited(this.#options.log, 'rpc.orphan_response', sentence, {id});
	}

	receiveProgress(envelope: Envelope): void {
		if (!this.#serverRequests.forwardProgress(envelope))
			this.#options.log.debug(
				'rpc.dropped',
				'A progress notification of the client matches no pending server request.',
			);
	}

	cancelRequestsOf(upstream: HubUpstream): void {
		for (const cancellation of this.#serverRequests.cancelAllOf(upstream)) this.#options.send(cancellation);
	}

	close(): void {
		this.listChanges.close();
	}

	#receiveRequest(upstream: HubUpstream, envelope: Envelope, id: string, method: string): void {
		const {origin} = envelope;
		if (method === 'ping') upstream.rpc?.sendMessage(Envelope.response(id, 'result', {}, origin));
		else if (serverRequestMethods.has(method)) this.#forwardRequest(upstream, envelope, id);
		else {
			const error = {code: -32601, message: `Method not found: ${method}`};
			upstream.rpc?.sendMessage(Envelope.response(id, 'error', error, origin));
		}
	}

	#forwardRequest(upstream: HubUpstream, envelope: Envelope, id: string): void {
		const clientRequest = this.#serverRequests.add(
			upstream,
			envelope,
			upstream.rpc?.relatedRequestId(envelope),
		);
		if (clientRequest) {
			this.#options.send(clientRequest);
			return;
		}
		const message = `Invalid Request: the progressToken has more than ${MAX_IDENTIFIER_LENGTH} characters`;
		upstream.rpc?.sendMessage(Envelope.response(id, 'error', {code: -32600, message}, envelope.origin));
	}

	#receiveNotification(upstream: HubUpstream, envelope: Envelope, method: string): void {
		switch (method) {
			case 'notifications/tools/list_changed':
				upstream.refreshTools();
				return;
			case 'notifications/cancelled': {
				const cancellation = this.#serverRequests.cancel(upstream, envelope);
				if (cancellation) this.#options.send(cancellation);
				return;
			}
			case 'notifications/message':
				this.#forwardNotification(upstream, withLogger(envelope, upstream.name));
				return;
			case 'notifications/progress':
			case 'notifications/elicitation/complete':
				this.#forwardNotification(upstream, envelope);
				return;
			case 'notifications/prompts/list_changed':
			case 'notifications/resources/list_changed':
				this.#options.mergedLists.invalidate();
				if (this.#options.expose() !== 'run') this.#forwardNotification(upstream, envelope);
				return;
			case 'notifications/resources/updated':
				if (this.#options.expose() !== 'run') this.#forwardNotification(upstream, envelope);
				return;
			default:
				this.#options.log.debug(
					'rpc.dropped',
					`The hub does not support ${method}, which ${upstream.name} sent.`,
				);
		}
	}

	/** Forwards a notification, related to the client's request that it most likely belongs to. */
	#forwardNotification(upstream: HubUpstream, envelope: Envelope): void {
		const {name, valve} = envelope.origin;
		const relatedRequestId = upstream.rpc?.relatedRequestId(envelope);
		this.#options.send(
			envelope.forwardedAs({name, valve, ...(relatedRequestId === undefined ? {} : {relatedRequestId})}),
		);
	}
}

/** Adds the name of the upstream to a log message. */
const withLogger = (envelope: Envelope, server: string): Envelope =>
	editMessage(envelope, body => {
		const params = objectOf(body.params);
		const logger = typeof params.logger === 'string' ? `${server}/${params.logger}` : server;
		return {...body, params: {...params, logger}};
	});
