import type {MailMessage} from './types.js';

/** The failed attempts to deliver a message, and the earliest time of the next one. */
export type DeliveryAttempts = {readonly tries: number; readonly notBefore: number};

/** The delivery state of one session. Immutable. */
export type DeliveryState = {
	/**
	 * Attempts by message id. An entry with 0 tries marks a message that a previous process may have delivered.
	 */
	readonly attempts: ReadonlyMap<string, DeliveryAttempts>;
	/** The number of mail turns since the last turn of the client. */
	readonly streak: number;
	/** When the last mail turn ended. */
	readonly lastTurn: number;
};

export type DeliveryRules = {
	readonly identity: string;
	readonly team: string;
	/** The team member whose shutdown requests close the session. */
	readonly lead: string | undefined;
	/** When the session was opened. Earlier shutdown requests were for another session and are ignored. */
	readonly since: number;
	readonly maxMessages: number;
	readonly maxStreak: number;
	/** The time without a mail turn after which a new streak may start. */
	readonly quietMs: number;
	/** The delay after the first failure. It grows with each further failure. */
	readonly backOffMs: number;
};

/** The next action for the mail of an idle session. */
type DeliveryDecision = {
	/** Messages that are irrelevant to a model. They are only marked as read. */
	readonly notices: readonly MailMessage[];
	readonly next:
		| {readonly type: 'turn'; readonly messages: readonly MailMessage[]}
		| {readonly type: 'close'; readonly request: MailMessage}
		/** There is mail, but its delivery has to wait. */
		| {readonly type: 'wait'; readonly until: number; readonly reason: 'streak' | 'failures'}
		| {readonly type: 'nothing'};
};

export const MAX_ATTEMPTS = 5;
const MAX_BACK_OFF_MS = 300_000;
const BACK_OFF_FACTOR = 3;
/** Limit on stored attempts. The oldest are evicted. */
const MAX_STORED_ATTEMPTS = 1000;

export const initialDeliveryState: DeliveryState = {attempts: new Map(), streak: 0, lastTurn: 0};

export const hasExhaustedAttempts = ({attempts}: DeliveryState, {id}: MailMessage): boolean =>
	(attempts.get(id)?.tries ?? 0) >= MAX_ATTEMPTS;

/**
 * Selects and orders the unread messages of the next turn. Messages of one sender keep their order.
 * Otherwise, senders with an urgent message come first.
 */
export function nextDelivery(
	unread: readonly MailMessage[],
	state: DeliveryState,
	rules: DeliveryRules,
	now: number,
): DeliveryDecision {
	const request = unread.find(message => isShutdownRequest(message, rules) && !(message.at < rules.since));
	const isNotice = (message: MailMessage): boolean =>
		message.type === 'idle_notification' || (isShutdownRequest(message, rules) && message !== request);
	const notices = unread.filter(isNotice);
	if (request) return {notices, next: {type: 'close', request}};
	const mail = unread.filter(message => !isNotice(message) && !hasExhaustedAttempts(state, message));
	const ready = urgentFirst(mail.filter(readyAmong(mail, state, now)));
	const messages = selectBatch(ready, state, rules);
	if (!messages.some(message => !isFromSelf(message, rules) || hasFailed(state, message))) {
		const until = Math.min(
			...mail.map(({id}) => state.attempts.get(id)?.notBefore ?? 0).filter(at => at > now),
		);
		return {notices, next: Number.isFinite(until) ? {type: 'wait', until, reason: 'failures'} : NO_DELIVERY};
	}
	const quietUntil = state.lastTurn + rules.quietMs;
	if (state.streak >= rules.maxStreak && now < quietUntil)
		return {notices, next: {type: 'wait', until: quietUntil, reason: 'streak'}};
	return {notices, next: {type: 'turn', messages}};
}

const NO_DELIVERY = {type: 'nothing'} as const;

const isShutdownRequest = ({type, from, sourceTeam}: MailMessage, {lead, team}: DeliveryRules): boolean =>
	type === 'shutdown_request' && from === lead && (sourceTeam ?? team) === team;

/**
 * Whether the agent sent the message to itself. Such mail waits for mail of others, to prevent endless loops.
 */
const isFromSelf = ({from, sourceTeam}: MailMessage, {identity, team}: DeliveryRules): boolean =>
	from === identity && (sourceTeam ?? team) === team;

const senderOf = ({from, sourceTeam = ''}: MailMessage): string => `${from}@${sourceTeam}`;

/**
 * Returns a predicate for messages that wait neither for their own retry nor for an earlier message of the
 * same sender.
 */
function readyAmong(mail: readonly MailMessage[], {attempts}: DeliveryState, now: number) {
	const blockedSenders = new Set<string>();
	const ready = new Set<MailMessage>();
	for (const message of mail) {
		const sender = senderOf(message);
		if ((attempts.get(message.id)?.notBefore ?? 0) > now) blockedSenders.add(sender);
		if (!blockedSenders.has(sender)) ready.add(message);
	}
	return (message: MailMessage): boolean => ready.has(message);
}

/** Moves each message up to the last urgent one of its sender to the front. */
function urgentFirst(mail: readonly MailMessage[]): MailMessage[] {
	const lastUrgent = new Map<string, number>();
	for (const [at, message] of mail.entries()) if (message.isUrgent) lastUrgent.set(senderOf(message), at);
	const isFirst = (message: MailMessage, at: number): boolean =>
		at <= (lastUrgent.get(senderOf(message)) ?? -1);
	return [...mail.filter(isFirst), ...mail.filter((message, at) => !isFirst(message, at))];
}

/**
 * Selects the messages of a turn. A message that has failed is retried alone, so that no other message fails
 * with it.
 */
function selectBatch(
	ready: readonly MailMessage[],
	state: DeliveryState,
	rules: DeliveryRules,
): MailMessage[] {
	const [first] = ready;
	if (first && hasFailed(state, first)) return [first];
	const blockedSenders = new Set(ready.filter(message => hasFailed(state, message)).map(senderOf));
	const candidates = ready.filter(message => !blockedSenders.has(senderOf(message)));
	const others = candidates.filter(message => !isFromSelf(message, rules)).slice(0, rules.maxMessages);
	// Mail from the agent itself gets the remaining places.
	const own = candidates
		.filter(message => isFromSelf(message, rules))
		.slice(0, rules.maxMessages - others.length);
	const chosen = new Set([...others, ...own]);
	return candidates.filter(message => chosen.has(message));
}

const hasFailed = ({attempts}: DeliveryState, {id}: MailMessage): boolean =>
	(attempts.get(id)?.tries ?? 0) > 0;

/** Returns the state after a turn that delivered these messages, whatever its result. */
export const markDelivered = (
	state: DeliveryState,
	ids: readonly string[],
	rules: DeliveryRules,
	now: number,
): DeliveryState => ({
	...withTurn(state, rules, now),
	attempts: new Map([...state.attempts].filter(([id]) => !ids.includes(id))),
});

/** Returns the state after a failed turn. Its messages are retried after a delay. */
export function markFailed(
	state: DeliveryState,
	ids: readonly string[],
	rules: DeliveryRules,
	now: number,
): DeliveryState {
	const attempts = new Map(state.attempts);
	for (const id of ids) {
		const tries = (attempts.get(id)?.tries ?? 0) + 1;
		const wait = Math.min(MAX_BACK_OFF_MS, rules.backOffMs * BACK_OFF_FACTOR ** (tries - 1));
		attempts.delete(id);
		attempts.set(id, {tries, notBefore: now + wait});
	}
	const recent = [...attempts].slice(-MAX_STORED_ATTEMPTS);
	return {...withTurn(state, rules, now), attempts: new Map(recent)};
}

const withTurn = (state: DeliveryState, {quietMs}: DeliveryRules, now: number): DeliveryState => ({
	...state,
	streak: now - state.lastTurn < quietMs ? state.streak + 1 : 1,
	lastTurn: now,
});

/** Whether the message may have been delivered before. */
export const isRedelivery = ({attempts}: DeliveryState, {id}: MailMessage): boolean => attempts.has(id);

export const resetStreak = (state: DeliveryState): DeliveryState =>
	state.streak === 0 ? state : {...state, streak: 0};

/** Drops the attempts of messages that are no longer unread. */
export function pruneAttempts(state: DeliveryState, unread: readonly MailMessage[]): DeliveryState {
	const ids = new Set(unread.map(({id}) => id));
	const attempts = new Map([...state.attempts].filter(([id]) => ids.has(id)));
	return attempts.size === state.attempts.size ? state : {...state, attempts};
}
