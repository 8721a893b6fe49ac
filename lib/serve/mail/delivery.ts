import type {MailMessage} from './types.js';

/** What came of a message that did not get through: how often it was tried, and when it may be next. */
export type DeliveryAttempts = {readonly tries: number; readonly notBefore: number};

/** What is known of the mail of one session. Never changed in place. */
export type DeliveryState = {
	/** Messages that were tried, by their ids. Those with no try are known to be here for the second time. */
	readonly attempts: ReadonlyMap<string, DeliveryAttempts>;
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
type DeliveryDecision = {
	/** Messages that are of no use to a model: they are read, and that is all. */
	readonly notices: readonly MailMessage[];
	readonly next:
		| {readonly type: 'turn'; readonly letters: readonly MailMessage[]}
		| {readonly type: 'close'; readonly request: MailMessage}
		/** There is something, but not yet. */
		| {readonly type: 'wait'; readonly until: number; readonly reason: 'streak' | 'failures'}
		| {readonly type: 'nothing'};
};

export const MAX_ATTEMPTS = 5;
const MAX_BACK_OFF_MS = 300_000;
const BACK_OFF_FACTOR = 3;
/** Trials that are remembered; more than any inbox has of mail that fails. */
const MAX_REMEMBERED = 1000;

export const initialDeliveryState: DeliveryState = {attempts: new Map(), streak: 0, lastTurn: 0};

export const hasExhaustedAttempts = ({attempts}: DeliveryState, {id}: MailMessage): boolean =>
	(attempts.get(id)?.tries ?? 0) >= MAX_ATTEMPTS;

/**
 * Which of the unread messages go into the next turn, in which order. Those of one sender never overtake each other; beyond
 * that, who has something urgent comes first.
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
	return {notices, next: {type: 'turn', letters: messages}};
}

const NO_DELIVERY = {type: 'nothing'} as const;

const isShutdownRequest = ({type, from, sourceTeam}: MailMessage, {lead, team}: DeliveryRules): boolean =>
	type === 'shutdown_request' && from === lead && (sourceTeam ?? team) === team;

/** Whoever writes to themselves is not to be kept busy by that for ever: such mail waits for that of others. */
const isFromSelf = ({from, sourceTeam}: MailMessage, {identity, team}: DeliveryRules): boolean =>
	from === identity && (sourceTeam ?? team) === team;

const senderOf = ({from, sourceTeam = ''}: MailMessage): string => `${from}@${sourceTeam}`;

/** Whether a message does not have to wait, be it for its own next try or for one of the same sender before it. */
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

/** All up to the last urgent message of its sender, and then the rest. */
function urgentFirst(mail: readonly MailMessage[]): MailMessage[] {
	const lastUrgent = new Map<string, number>();
	for (const [at, message] of mail.entries()) if (message.isUrgent) lastUrgent.set(senderOf(message), at);
	const isFirst = (message: MailMessage, at: number): boolean =>
		at <= (lastUrgent.get(senderOf(message)) ?? -1);
	return [...mail.filter(isFirst), ...mail.filter((message, at) => !isFirst(message, at))];
}

/** What has failed before is tried alone, so that nothing else fails with it. */
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
	// Own mail has the room that is left.
	const own = candidates
		.filter(message => isFromSelf(message, rules))
		.slice(0, rules.maxMessages - others.length);
	const chosen = new Set([...others, ...own]);
	return candidates.filter(message => chosen.has(message));
}

const hasFailed = ({attempts}: DeliveryState, {id}: MailMessage): boolean =>
	(attempts.get(id)?.tries ?? 0) > 0;

/** A turn with these messages came to its end, however that was. */
export const markDelivered = (
	state: DeliveryState,
	ids: readonly string[],
	rules: DeliveryRules,
	now: number,
): DeliveryState => ({
	...withTurn(state, rules, now),
	attempts: new Map([...state.attempts].filter(([id]) => !ids.includes(id))),
});

/** A turn with these messages failed, and they are to come once more. */
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
	const recent = [...attempts].slice(-MAX_REMEMBERED);
	return {...withTurn(state, rules, now), attempts: new Map(recent)};
}

const withTurn = (state: DeliveryState, {quietMs}: DeliveryRules, now: number): DeliveryState => ({
	...state,
	streak: now - state.lastTurn < quietMs ? state.streak + 1 : 1,
	lastTurn: now,
});

/** Whether these had been given to the session before, as far as anybody knows. */
export const isRedelivery = ({attempts}: DeliveryState, {id}: MailMessage): boolean => attempts.has(id);

/** The client has said something: mail may come anew. */
export const resetStreak = (state: DeliveryState): DeliveryState =>
	state.streak === 0 ? state : {...state, streak: 0};

/** Forgets what is no longer unread. */
export function pruneAttempts(state: DeliveryState, unread: readonly MailMessage[]): DeliveryState {
	const ids = new Set(unread.map(({id}) => id));
	const attempts = new Map([...state.attempts].filter(([id]) => ids.has(id)));
	return attempts.size === state.attempts.size ? state : {...state, attempts};
}
