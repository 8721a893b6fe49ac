import {Session} from '../protocol/session.js';
import type {Endpoint} from '../stage.js';
import type {Carriage} from '../transports/carriage.js';
import {type Tally, WaitingRequests} from '../waiting-requests.js';
import type {Watch} from './seen.js';
import type {Service} from './service.js';

/** Whose requests they are: what two callers must have in common for one to see anything of the other's. */
export type Caller = {
	/** The Authorization that goes on to the server, if it does. */
	readonly authorization: string | undefined;
	/** All that the caller has shown, in one text of at most 1024 characters. It is a secret. */
	readonly principal: string;
	/** The gateway's token that the caller proved; empty where it needs none. Quotas count by it. */
	readonly token: string;
};

export type Manner = {
	/** Whether the hub is the client, which speaks the newest version, and knows no tasks. */
	readonly isMember?: boolean;
	readonly watch?: Watch;
	/** Where any of several replicas may carry it on. */
	readonly carriage?: Carriage | undefined;
	/** Where one of several replicas has to be named to the client of a call that waits for it. */
	readonly newState?: (() => string) | undefined;
	/** Counts the pending requests of the principal, in all its conversations. */
	readonly tally?: Tally | undefined;
};

/** What a client and a server say to each other, from the first word to the last. */
export class Conversation {
	readonly service: Service;
	readonly caller: Caller;
	readonly session: Session;
	readonly waiting: WaitingRequests;
	readonly watch: Watch | undefined;
	readonly carriage: Carriage | undefined;
	#end: () => Promise<number | undefined> = async () => undefined;

	constructor(service: Service, caller: Caller, manner: Manner = {}) {
		const {isMember = false, watch, carriage, newState, tally} = manner;
		const {name, targetVersion, clientVersion, strict, shared} = service.config;
		this.service = service;
		this.caller = caller;
		this.waiting = new WaitingRequests(undefined, tally);
		const isShared = shared && service.config.transport === 'stdio';
		this.watch = watch;
		this.carriage = carriage;
		this.session = new Session({
			upstream: name,
			isStrict: strict,
			isShared,
			isHub: isMember,
			newState,
			clientVersion: isMember ? undefined : clientVersion,
			// A server that others use, too, has been asked already.
			targetVersion: isShared ? undefined : targetVersion,
		});
	}

	/** Whether no other replica could carry it on. */
	get isFixed(): boolean {
		return this.carriage === undefined || this.carriage.isFixed;
	}

	begin(client: Endpoint, converse: Converse): void {
		this.#end = converse(client, this);
	}

	/** Ends it. Resolves with the status that a server behind HTTP answered to that. */
	end(): Promise<number | undefined> {
		this.waiting.release();
		return this.#end();
	}
}

/** Lets a client talk in a conversation. Returns what ends it. */
export type Converse = (client: Endpoint, conversation: Conversation) => () => Promise<number | undefined>;
