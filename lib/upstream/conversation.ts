import {type PendingCount, PendingRequests} from '../core/requests/pending.js';
import type {Endpoint} from '../core/stage.js';
import type {UpstreamControl} from '../core/upstream-control.js';
import {Negotiation} from '../protocol/negotiation.js';
import type {Service} from './service.js';
import type {UpstreamObserver} from './service-health.js';

/** Whose requests they are: what two callers must have in common for one to see anything of the other's. */
export type Principal = {
	/** The Authorization that goes on to the server, if it does. */
	readonly authorization: string | undefined;
	/** All that the caller has shown, in one text of at most 1024 characters. It is a secret. */
	readonly id: string;
	/** The gateway's token that the caller proved; empty where it needs none. Quotas count by it. */
	readonly token: string;
};

/** A caller without credentials. */
export const anonymousPrincipal: Principal = {
	authorization: undefined,
	id: JSON.stringify([undefined, undefined]),
	token: '',
};

type ConversationOptions = {
	/** Whether the hub is the client, which speaks the newest version, and knows no tasks. */
	readonly isHubClient?: boolean;
	readonly observer?: UpstreamObserver;
	/** Where any of several replicas may carry it on. */
	readonly upstreamControl?: UpstreamControl | undefined;
	/** Where one of several replicas has to be named to the client of a call that waits for it. */
	readonly createRequestState?: (() => string) | undefined;
	/** Counts the pending requests of the principal, in all its conversations. */
	readonly pendingQuota?: PendingCount | undefined;
};

/** What a client and a server say to each other, from the first word to the last. */
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
			// A server that others use, too, has been asked already.
			targetVersion: isShared ? undefined : targetVersion,
		});
	}

	/** Whether no other replica could carry it on. */
	get isReplicaBound(): boolean {
		return this.upstreamControl === undefined || this.upstreamControl.isConnectionBound;
	}

	start(client: Endpoint, startConversation: StartConversation): void {
		this.#end = startConversation(client, this);
	}

	/** Ends it. Resolves with the status that a server behind HTTP answered to that. */
	end(): Promise<number | undefined> {
		this.pendingRequests.release();
		return this.#end();
	}
}

/** Lets a client talk in a conversation. Returns what ends it. */
export type StartConversation = (
	client: Endpoint,
	conversation: Conversation,
) => () => Promise<number | undefined>;
