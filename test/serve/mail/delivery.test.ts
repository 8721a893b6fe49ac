import test from 'ava';
import fc from 'fast-check';
import {
	type DeliveryRules,
	type DeliveryState,
	hasExhaustedAttempts,
	initialDeliveryState,
	MAX_ATTEMPTS,
	markDelivered,
	markFailed,
	nextDelivery,
	resetStreak,
} from '../../../lib/serve/mail/delivery.js';
import type {MailMessage} from '../../../lib/serve/mail/types.js';
import {message} from '../../e2e/mail-turns/support.js';

const rules: DeliveryRules = {
	identity: 'arch-ctm',
	team: 'atm-dev',
	lead: 'team-lead',
	since: 0,
	maxMessages: 10,
	maxStreak: 10,
	quietMs: 300_000,
	backOffMs: 5000,
};
const NOW = 1_000_000_000;

const next = (
	unread: readonly MailMessage[],
	state = initialDeliveryState,
	overrides: Partial<DeliveryRules> = {},
	now = NOW,
) => nextDelivery(unread, state, {...rules, ...overrides}, now);

/** The texts of the messages of the next turn, if there is one. */
function texts(...args: Parameters<typeof next>): string[] | undefined {
	const {next: decision} = next(...args);
	return decision.type === 'turn' ? decision.messages.map(({text}) => text) : undefined;
}

const idsOf = (messages: readonly MailMessage[]): string[] => messages.map(({id}) => id);
const messagesWith = (...list: readonly string[]): MailMessage[] => list.map(text => message({text}));

test('Checklist: delivers the 10 oldest of 15 messages first, and the rest in the next turn [FR-8.5]', t => {
	const unread = Array.from({length: 15}, (_, at) => message({text: String(at)}));
	t.deepEqual(texts(unread), '0123456789'.split(''));
	t.deepEqual(
		texts(unread.slice(10), markDelivered(initialDeliveryState, idsOf(unread.slice(0, 10)), rules, NOW)),
		['10', '11', '12', '13', '14'],
	);
	t.deepEqual(texts(unread, initialDeliveryState, {maxMessages: 1}), ['0']);
});

test('starts no turn without mail', t => {
	t.deepEqual(next([]), {notices: [], next: {type: 'nothing'}});
});

test('marks idle_notification as read without a turn, also among other messages', t => {
	const idle = message({type: 'idle_notification'});
	const mail = message({text: 'real'});
	t.deepEqual(next([idle]), {notices: [idle], next: {type: 'nothing'}});
	t.deepEqual(next([idle, mail, idle]), {notices: [idle, idle], next: {type: 'turn', messages: [mail]}});
});

test('delivers own mail only with mail of others, and does not treat a namesake in another team as oneself', t => {
	const own = message({from: 'arch-ctm', text: 'note'});
	t.is(texts([own]), undefined);
	t.is(texts([message({from: 'arch-ctm', sourceTeam: 'atm-dev'})]), undefined);
	t.deepEqual(texts([own, ...messagesWith('real')]), ['note', 'real']);
	const notes = Array.from({length: 20}, () => message({from: 'arch-ctm', text: 'note'}));
	t.deepEqual(
		texts([...notes, ...messagesWith('real')])?.slice(-2),
		['note', 'real'],
		'own mail does not delay other mail',
	);
	t.deepEqual(texts([message({from: 'arch-ctm', sourceTeam: 'other', text: 'hi'})]), ['hi']);
});

test('closes the session for a shutdown_request of the lead, delivers those of others, and ignores earlier ones', t => {
	const request = (overrides: Partial<MailMessage> = {}): MailMessage =>
		message({type: 'shutdown_request', from: 'team-lead', text: 'stop', ...overrides});
	const lead = request();
	t.deepEqual(next([...messagesWith('x'), lead]), {notices: [], next: {type: 'close', request: lead}});
	t.deepEqual(texts([request({from: 'dev-1'})]), ['stop']);
	t.deepEqual(texts([request({sourceTeam: 'other'})]), ['stop']);
	t.deepEqual(texts([request()], initialDeliveryState, {lead: undefined}), ['stop']);
	t.deepEqual(next([lead], initialDeliveryState, {since: lead.at + 1}), {
		notices: [lead],
		next: {type: 'nothing'},
	});
	t.is(next([request({at: Number.NaN})]).next.type, 'close', 'with an invalid time');
	const twice = [request(), request()];
	t.deepEqual(idsOf(next(twice).notices), [twice[1]?.id]);
});

test('delivers senders with urgent mail first, and keeps the order of each sender', t => {
	const unread = [
		message({from: 'a', text: 'a1'}),
		message({from: 'b', text: 'b1'}),
		message({from: 'c', text: 'c1'}),
		message({from: 'b', text: 'b2', isUrgent: true}),
		message({from: 'b', text: 'b3'}),
	];
	t.deepEqual(texts(unread), ['b1', 'b2', 'a1', 'c1', 'b3']);
	t.deepEqual(texts(unread, initialDeliveryState, {maxMessages: 2}), ['b1', 'b2']);
});

test('retries a failed message alone with growing delays, parks it after five tries, and delivers other mail [H13]', t => {
	const poison = message({from: 'a', text: 'poison'});
	const behind = message({from: 'a', text: 'behind'});
	const other = message({from: 'b', text: 'other'});
	const unread = [poison, behind, other];
	let state = markFailed(initialDeliveryState, idsOf([poison]), rules, NOW);
	t.deepEqual(texts(unread, state), ['other'], 'later mail of the same sender waits');
	t.deepEqual(next([poison, behind], state).next, {type: 'wait', until: NOW + 5000, reason: 'failures'});
	t.deepEqual(texts(unread, state, {}, NOW + 5000), ['poison']);
	const waits: number[] = [];
	for (let tries = 2; tries <= MAX_ATTEMPTS; tries++) {
		state = resetStreak(markFailed(state, idsOf([poison]), rules, NOW));
		waits.push((state.attempts.get(poison.id)?.notBefore ?? 0) - NOW);
	}
	t.deepEqual(waits, [15_000, 45_000, 135_000, 300_000]);
	t.deepEqual(texts(unread, state, {}, NOW + 1e9), ['behind', 'other']);
});

test('retries the messages of a failed batch one by one [H13]', t => {
	const unread = messagesWith('1', '2', '3');
	const state = markFailed(initialDeliveryState, idsOf(unread), rules, NOW);
	t.deepEqual(texts(unread, state, {}, NOW + 5000), ['1']);
	const after = markDelivered(state, idsOf(unread.slice(0, 1)), rules, NOW + 5000);
	t.deepEqual(texts(unread.slice(1), after, {}, NOW + 5000), ['2']);
});

test('limits mail turns in a row until a turn of the client or a quiet period [H14]', t => {
	const unread = messagesWith('again');
	let state: DeliveryState = initialDeliveryState;
	for (let turn = 0; turn < 10; turn++) {
		t.deepEqual(texts(unread, state), ['again']);
		state = markDelivered(state, [], rules, NOW);
	}
	t.deepEqual(next(unread, state).next, {type: 'wait', until: NOW + 300_000, reason: 'streak'});
	t.deepEqual(texts(unread, resetStreak(state)), ['again']);
	t.deepEqual(texts(unread, state, {}, NOW + 300_000), ['again']);
	t.is(markDelivered(state, [], rules, NOW + 300_000).streak, 1);
});

/**
 * Delivers the waves of messages one after the other until none is left. A turn with a poison message fails.
 */
function* allTurns(waves: readonly MailMessage[][], deliveryRules: DeliveryRules) {
	let delivered: ReadonlySet<MailMessage> = new Set();
	let unread: MailMessage[] = [];
	let state: DeliveryState = initialDeliveryState;
	let now = NOW;
	for (let step = 0; step < 1000; step++) {
		unread = [...unread, ...(waves[step] ?? [])];
		const {next: decision} = nextDelivery(unread, state, deliveryRules, now);
		if (decision.type === 'nothing' && step >= waves.length) break;
		if (decision.type === 'wait') now = decision.until;
		if (decision.type !== 'turn') continue;
		const {messages} = decision;
		yield {messages, delivered, state};
		const hasFailed = messages.some(({text}) => text === 'poison');
		state = (hasFailed ? markFailed : markDelivered)(state, idsOf(messages), deliveryRules, now);
		if (!hasFailed) unread = unread.filter(each => !messages.includes(each));
		if (!hasFailed) delivered = new Set([...delivered, ...messages]);
	}
	return {delivered, state};
}

test('property: delivers or parks each message, and keeps the order of each sender', t => {
	const isPoison = fc.integer({min: 0, max: 5}).map(n => n === 0);
	const messageArbitrary = fc
		.record({from: fc.constantFrom('a', 'b', 'c'), isUrgent: fc.boolean(), isPoison})
		.map(({isPoison: isPoisonous, ...fields}) => message({...fields, text: isPoisonous ? 'poison' : 'fine'}));
	const arrivals = fc.array(fc.array(messageArbitrary, {maxLength: 5}), {minLength: 1, maxLength: 8});
	fc.assert(
		fc.property(arrivals, fc.integer({min: 1, max: 4}), (waves, maxMessages) => {
			const order = waves.flat();
			const turns = allTurns(waves, {...rules, maxMessages, maxStreak: 1e6});
			let turn = turns.next();
			for (; !turn.done; turn = turns.next()) {
				const {messages, delivered, state} = turn.value;
				t.true(messages.length <= maxMessages);
				for (const [nth, sent] of messages.entries()) {
					const before = order.slice(0, order.indexOf(sent)).filter(({from}) => from === sent.from);
					const deliveredBefore = new Set([...delivered, ...messages.slice(0, nth)]);
					t.true(before.every(each => deliveredBefore.has(each) || hasExhaustedAttempts(state, each)));
				}
			}
			const {delivered, state} = turn.value;
			t.true(order.every(each => delivered.has(each) === (each.text === 'fine')));
			t.true(order.every(each => hasExhaustedAttempts(state, each) === (each.text === 'poison')));
		}),
	);
});
