import {type PendingCount, PendingRequests} from '../core/requests/pending.js';
import type {Endpoint} from '../core/stage.js';
import type {UpstreamControl} from '../core/upstream-control.js';
import {Negotiation} from '../protocol/negotiation.js';
import type {Service} from './service.js';
import type {UpstreamObserver} from './service-health.js';

/** The identity that credentials prove. Clients with different principals share no data. */
export type Principal = {
	/** The `Authorization` header to forward to the upstream; undefined unless the service forwards it. */
	readonly authorization: string | undefined;
	/** A key derived from all credentials, of at most 1024 characters. It is a secret. */
	readonly id: string;
	/** The gateway token that the client proved; empty where none is required. Quotas are counted per token. */
	readonly token: string;
};

export const anonymousPrincipal: Principal = {
	authorization: undefined,
	id: JSON.stringify([undefined, undefined]),
	token: '',
};

type ConversationOptions = {
	/** Whether the hub is the client. It speaks the newest version and does not support tasks. */
	readonly isHubClient?: boolean;
	readonly observer?: UpstreamObserver;
	/** Present if other replicas may continue the conversation. */
	readonly upstreamControl?: UpstreamControl | undefined;
	/** Creates the request state that leads the retry of a parked call back to this replica. */
	readonly createRequestState?: (() => string) | undefined;
	/** Counts the pending requests of the principal, across its conversations. */
	readonly pendingQuota?: PendingCount | undefined;
};

/** One client and one upstream, connected by a running pipeline. */
export class Conversation {
	readonly service: Service;
	readonly principal: Principal;
	readonly negotiation: Negotiation;
	readonly pendingRequests: PendingRequests;
	readonly observer: UpstreamObserver | undefined;
	readonly upstreamControl: UpstreamControl | undefined;
	#end: () => Promise<number | undefined> = async () => undefined;

	constructor(service: Service, principal: Principal, options: ConversationOptions = {}) {
		const {isHubClient = false, observer, upstreamControl, createRequestState, pendingQuota} = options;
		const {name, targetVersion, clientVersion, strict, shared} = service.config;
		this.service = service;
		this.principal = principal;
		this.pendingRequests = new PendingRequests(undefined, pendingQuota);
		const isShared = shared && service.config.transport === 'stdio';
		this.observer = observer;
		this.upstreamControl = upstreamControl;
		this.negotiation = new Negotiation({
			upstream: name,
			isStrict: strict,
			isShared,
			isHub: isHubClient,
			newState: createRequestState,
			clientVersion: isHubClient ? undefined : clientVersion,
			// A shared upstream has its own connection, which negotiates the target version.
			targetVersion: isShared ? undefined : targetVersion,
		});
	}

	/** Whether only this replica can continue the conversation. */
	get isReplicaBound(): boolean {
		return this.upstreamControl === undefined || this.upstreamControl.isConnectionBound;
	}

	start(client: Endpoint, startConversation: StartConversation): void {
		this.#end = startConversation(client, this);
	}

	/** Ends the conversation. Resolves with the status of an HTTP upstream's reply to the DELETE. */
	end(): Promise<number | undefined> {
		this.pendingRequests.release();
		return this.#end();
	}
}

/** Starts the pipeline of a conversation. Returns a function that ends it. */
export type StartConversation = (
	client: Endpoint,
	conversation: Conversation,
) => () => Promise<number | undefined>;
