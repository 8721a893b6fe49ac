import {Session} from '../protocol/session.js';
import type {Endpoint} from '../stage.js';
import type {Carriage} from '../transports/carriage.js';
import {WaitingRequests} from '../waiting-requests.js';
import type {Service, Watch} from './service.js';

/** Whose requests they are: what two callers must have in common for one to see anything of the other's. */
export type Caller = {
	/** The Authorization that goes on to the server, if it does. */
	readonly authorization: string | undefined;
	/** All that the caller has shown, in one text. It is a secret. */
	readonly principal: string;
};

export type Manner = {
	/** Whether the hub is the client, which speaks the newest version, and knows no tasks. */
	readonly isMember?: boolean;
	readonly watch?: Watch;
	/** Where any of several replicas may carry it on. */
	readonly carriage?: Carriage | undefined;
	/** Where one of several replicas has to be named to the client of a call that waits for it. */
	readonly newState?: (() => string) | undefined;
};

/** What a client and a server say to each other, from the first word to the last. */
export class Conversation {
	readonly service: Service;
	readonly caller: Caller;
	readonly session: Session;
	readonly waiting = new WaitingRequests();
	readonly watch: Watch | undefined;
	readonly carriage: Carriage | undefined;
	#end: () => Promise<number | undefined> = async () => undefined;

	constructor(service: Service, caller: Caller, {isMember = false, watch, carriage, newState}: Manner = {}) {
		const {name, targetVersion, clientVersion, strict, shared} = service.config;
		this.service = service;
		this.caller = caller;
		const isShared = shared && service.config.transport === 'stdio';
		this.watch = watch;
		this.carriage = carriage;
		this.session = new Session({
			...{upstream: name, isStrict: strict, isShared, isHub: isMember, newState},
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
		return this.#end();
	}
}

/** Lets a client talk in a conversation. Returns what ends it. */
export type Converse = (client: Endpoint, conversation: Conversation) => () => Promise<number | undefined>;
