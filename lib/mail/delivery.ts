import type {Message} from './types.js';

/** What came of a message that did not get through: how often it was tried, and when it may be next. */
export type Trial = {readonly tries: number; readonly notBefore: number};

/** What is known of the mail of one session. Never changed in place. */
export type DeliveryState = {
	/** Messages that were tried, by their ids. Those with no try are known to be here for the second time. */
	readonly trials: ReadonlyMap<string, Trial>;
	/** Turns of mail since the client has last said something to the session. */
	readonly streak: number;
	/** When the last of them ended. */
	readonly lastTurn: number;
};

export type DeliveryRules = {
	readonly identity: string;
	readonly team: string;
	/** Who may have the session closed. */
	readonly lead: string | undefined;
	/** Since when the session is there: what was asked of another one before is not asked of it. */
	readonly since: number;
	readonly maxMessages: number;
	readonly maxStreak: number;
	/** After so long without a turn of mail a new streak may begin. */
	readonly quietMs: number;
	/** The wait after the first failure; each one after that is longer. */
	readonly backOffMs: number;
};

/** What is to be done about the mail of a session that has nothing else to do. */
export type Delivery = {
	/** Messages that are of no use to a model: they are read, and that is all. */
	readonly notices: readonly Message[];
	readonly next:
		| {readonly type: 'turn'; readonly letters: readonly Message[]}
		| {readonly type: 'close'; readonly request: Message}
		/** There is something, but not yet. */
		| {readonly type: 'wait'; readonly until: number; readonly reason: 'streak' | 'failures'}
		| {readonly type: 'nothing'};
};

export const MAX_TRIES = 5;
const MAX_BACK_OFF_MS = 300_000;
const GROWTH = 3;
/** Trials that are remembered; more than any inbox has of mail that fails. */
const MAX_TRIALS = 1000;

export const noDeliveries: DeliveryState = {trials: new Map(), streak: 0, lastTurn: 0};

export const isParked = ({trials}: DeliveryState, {id}: Message): boolean =>
	(trials.get(id)?.tries ?? 0) >= MAX_TRIES;

/**
 * Which of the unread messages go into the next turn, in which order. Those of one sender never overtake each other; beyond
 * that, who has something urgent comes first.
 */
export function nextDelivery(
	unread: readonly Message[],
	state: DeliveryState,
	rules: DeliveryRules,
	now: number,
): Delivery {
	const request = unread.find(message => isRequest(message, rules) && !(message.at < rules.since));
	const isNotice = (message: Message): boolean =>
		message.type === 'idle_notification' || (isRequest(message, rules) && message !== request);
	const notices = unread.filter(isNotice);
	if (request) return {notices, next: {type: 'close', request}};
	const mail = unread.filter(message => !isNotice(message) && !isParked(state, message));
	const ready = urgentFirst(mail.filter(notBehind(mail, state, now)));
	const letters = batchOf(ready, state, rules);
	if (!letters.some(message => !isOwn(message, rules) || hasFailed(state, message))) {
		const until = Math.min(
			...mail.map(({id}) => state.trials.get(id)?.notBefore ?? 0).filter(at => at > now),
		);
		return {notices, next: Number.isFinite(until) ? {type: 'wait', until, reason: 'failures'} : nothing};
	}
	const rested = state.lastTurn + rules.quietMs;
	if (state.streak >= rules.maxStreak && now < rested)
		return {notices, next: {type: 'wait', until: rested, reason: 'streak'}};
	return {notices, next: {type: 'turn', letters}};
}

const nothing = {type: 'nothing'} as const;

const isRequest = ({type, from, sourceTeam}: Message, {lead, team}: DeliveryRules): boolean =>
	type === 'shutdown_request' && from === lead && (sourceTeam ?? team) === team;

/** Whoever writes to themselves is not to be kept busy by that for ever: such mail waits for that of others. */
const isOwn = ({from, sourceTeam}: Message, {identity, team}: DeliveryRules): boolean =>
	from === identity && (sourceTeam ?? team) === team;

const senderOf = ({from, sourceTeam = ''}: Message): string => `${from}@${sourceTeam}`;

/** Whether a message does not have to wait, be it for its own next try or for one of the same sender before it. */
function notBehind(mail: readonly Message[], {trials}: DeliveryState, now: number) {
	const held = new Set<string>();
	const free = new Set<Message>();
	for (const message of mail) {
		const sender = senderOf(message);
		if ((trials.get(message.id)?.notBefore ?? 0) > now) held.add(sender);
		if (!held.has(sender)) free.add(message);
	}
	return (message: Message): boolean => free.has(message);
}

/** All up to the last urgent message of its sender, and then the rest. */
function urgentFirst(mail: readonly Message[]): Message[] {
	const lastUrgent = new Map<string, number>();
	for (const [at, message] of mail.entries()) if (message.isUrgent) lastUrgent.set(senderOf(message), at);
	const isFirst = (message: Message, at: number): boolean => at <= (lastUrgent.get(senderOf(message)) ?? -1);
	return [...mail.filter(isFirst), ...mail.filter((message, at) => !isFirst(message, at))];
}

/** What has failed before is tried alone, so that nothing else fails with it. */
function batchOf(ready: readonly Message[], state: DeliveryState, rules: DeliveryRules): Message[] {
	const [first] = ready;
	if (first && hasFailed(state, first)) return [first];
	const held = new Set(ready.filter(message => hasFailed(state, message)).map(senderOf));
	const free = ready.filter(message => !held.has(senderOf(message)));
	const others = free.filter(message => !isOwn(message, rules)).slice(0, rules.maxMessages);
	// Own mail has the room that is left.
	const own = free.filter(message => isOwn(message, rules)).slice(0, rules.maxMessages - others.length);
	const chosen = new Set([...others, ...own]);
	return free.filter(message => chosen.has(message));
}

const hasFailed = ({trials}: DeliveryState, {id}: Message): boolean => (trials.get(id)?.tries ?? 0) > 0;

/** A turn with these messages came to its end, however that was. */
export const delivered = (
	state: DeliveryState,
	ids: readonly string[],
	rules: DeliveryRules,
	now: number,
): DeliveryState => ({
	...turned(state, rules, now),
	trials: new Map([...state.trials].filter(([id]) => !ids.includes(id))),
});

/** A turn with these messages failed, and they are to come once more. */
export function failed(
	state: DeliveryState,
	ids: readonly string[],
	rules: DeliveryRules,
	now: number,
): DeliveryState {
	const trials = new Map(state.trials);
	for (const id of ids) {
		const tries = (trials.get(id)?.tries ?? 0) + 1;
		const wait = Math.min(MAX_BACK_OFF_MS, rules.backOffMs * GROWTH ** (tries - 1));
		trials.delete(id);
		trials.set(id, {tries, notBefore: now + wait});
	}
	const kept = [...trials].slice(-MAX_TRIALS);
	return {...turned(state, rules, now), trials: new Map(kept)};
}

const turned = (state: DeliveryState, {quietMs}: DeliveryRules, now: number): DeliveryState => ({
	...state,
	streak: now - state.lastTurn < quietMs ? state.streak + 1 : 1,
	lastTurn: now,
});

/** Whether these had been given to the session before, as far as anybody knows. */
export const isAgain = ({trials}: DeliveryState, {id}: Message): boolean => trials.has(id);

/** The client has said something: mail may come anew. */
export const clientSpoke = (state: DeliveryState): DeliveryState =>
	state.streak === 0 ? state : {...state, streak: 0};

/** Forgets what is no longer unread. */
export function onlyOf(state: DeliveryState, unread: readonly Message[]): DeliveryState {
	const ids = new Set(unread.map(({id}) => id));
	const trials = new Map([...state.trials].filter(([id]) => ids.has(id)));
	return trials.size === state.trials.size ? state : {...state, trials};
}
