import {randomInt} from 'node:crypto';
import type {Envelope} from '../envelope.js';
import type {Log} from '../log.js';
import {takesPriming} from '../protocol/http-hop.js';
import {objectOf} from '../protocol/json.js';
import type {Version} from '../protocol/version.js';
import type {Whose} from '../replicas/last-sessions.js';
import type {Replicas} from '../replicas/replicas.js';
import type {Portable} from '../replicas/session-ids.js';
import {LISTEN, newCarriage, QUIET, RESUMED} from '../transports/carriage.js';
import {HttpSession} from '../transports/http-server.js';
import {type Caller, Conversation, type Converse} from './conversation.js';
import type {Service} from './service.js';
import {newSessionId, type Sessions} from './sessions.js';
import type {Tallies} from './tallies.js';

export type Ground = {
	readonly log: Log;
	readonly sessions: Sessions;
	readonly converse: Converse;
	/** The pending requests of each principal. */
	readonly pending: Tallies;
	/** The other gateways, where there are several. */
	readonly replicas: () => Replicas | undefined;
	/** Whether what only this one has is over, but for what is under way. */
	readonly isLeaving: () => boolean;
};

/** Who begins to talk to what, and from where. */
export type Beginning = {
	readonly service: Service;
	readonly caller: Caller;
	readonly place: string;
	/** Which client it is to other replicas, if it can be told. */
	readonly whose?: Whose | undefined;
};

/** A session that another replica began. */
export type Resumed = {readonly id: string; readonly portable: Portable};

/** A server that may take longer than this is one whose clients are shown signs of life. */
const PATIENCE_MS = 60_000;
const SIGN_AFTER_MS = 25_000;
const RESUMABLE_AFTER_MS = 250;
/** Replicas number the streams of a session without asking each other: each begins somewhere else. */
const MAX_STREAMS_BEFORE = 900_000_000;

/** Begins a session over streamable HTTP, or carries one on. */
export function beginSession(
	ground: Ground,
	{service, caller, place, whose}: Beginning,
	resumed?: Resumed,
): HttpSession {
	const {log, sessions, converse} = ground;
	const replicas = ground.replicas();
	const carriage =
		replicas && service.config.transport === 'http' ? newCarriage(resumed?.portable.session) : undefined;
	const conversation = new Conversation(service, caller, {carriage, tally: ground.pending.of(caller.token)});
	const id = resumed?.id ?? newSessionId();
	const client: HttpSession = new HttpSession({
		name: 'client',
		log,
		signAfterMs: method => signAfter(service, conversation.session.client, method),
		id: answer => {
			if (!replicas) return id;
			const portable = portableOf(conversation, answer);
			const holder = holderOf(conversation);
			const everywhere = portable && replicas.portableId(id, holder, portable);
			// What the id says of it holds for all that is done with it here.
			if (carriage && everywhere === undefined) carriage.isFixed = true;
			const given = everywhere ?? replicas.ownId(id, holder);
			if (whose) replicas.lastSessions?.note(whose, given);
			return given;
		},
		streamsBefore: replicas && randomInt(MAX_STREAMS_BEFORE),
		shared: replicas?.eventsOf(id),
		upstream: carriage,
		onListening: carriage && (isListening => carriage.say(isListening ? LISTEN : QUIET)),
		version: () => conversation.session.client,
		idOf: key => conversation.waiting.idOf(key),
		onRefused: () => void sessions.end(held),
		onUndelivered: () => {
			// No other replica can resume it.
			if (carriage) carriage.isOver = true;
			void sessions.end(held);
		},
	});
	const held = sessions.begin({id, client, conversation, place}, client, converse);
	// Another replica may have resumed the session, and its client end it there.
	const unwatch = carriage && replicas?.ended.watch(id, () => void sessions.end(held));
	if (unwatch) void client.gone.then(unwatch);
	if (resumed) {
		conversation.session.resume(resumed.portable, resumed.portable.hasTools);
		carriage?.say(RESUMED);
	}
	return client;
}

const holderOf = ({service, caller}: Conversation) => ({
	service: service.config.name,
	principal: caller.principal,
});

/** What another replica needs to carry a conversation on, by the answer that begins it; undefined if it cannot. */
function portableOf({carriage, session}: Conversation, answer: Envelope | undefined): Portable | undefined {
	const standing = session.standing();
	if (!standing || !answer || !carriage || carriage.isFixed) return;
	const {capabilities} = objectOf(answer.body.result);
	return {...standing, hasTools: 'tools' in objectOf(capabilities), session: carriage.session};
}

/**
 * After how long a client is to see that somebody is there. One that can take up a stream again is given the means to do so
 * soon when it calls a tool, unless its server may still answer with a status of its own.
 */
export function signAfter(
	{config: {timeoutMs, transport}}: Service,
	version: Version | undefined,
	method: string | undefined,
): number | undefined {
	if (method === 'tools/call' && takesPriming(version) && transport !== 'http') return RESUMABLE_AFTER_MS;
	return timeoutMs === 0 || timeoutMs > PATIENCE_MS ? SIGN_AFTER_MS : undefined;
}
