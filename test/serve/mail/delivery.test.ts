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
	given: Partial<DeliveryRules> = {},
	now = NOW,
) => nextDelivery(unread, state, {...rules, ...given}, now);

/** The texts that go into the next turn. */
function texts(...args: Parameters<typeof next>): string[] | undefined {
	const {next: what} = next(...args);
	return what.type === 'turn' ? what.letters.map(({text}) => text) : undefined;
}

const idsOf = (letters: readonly MailMessage[]): string[] => letters.map(({id}) => id);
const written = (...list: readonly string[]): MailMessage[] => list.map(text => message({text}));

test('Checklist: of 15 messages the 10 oldest go first, the rest with the next turn [FR-8.5]', t => {
	const unread = Array.from({length: 15}, (_, at) => message({text: String(at)}));
	t.deepEqual(texts(unread), '0123456789'.split(''));
	t.deepEqual(
		texts(unread.slice(10), markDelivered(initialDeliveryState, idsOf(unread.slice(0, 10)), rules, NOW)),
		['10', '11', '12', '13', '14'],
	);
	t.deepEqual(texts(unread, initialDeliveryState, {maxMessages: 1}), ['0']);
});

test('no mail, no turn', t => {
	t.deepEqual(next([]), {notices: [], next: {type: 'nothing'}});
});

test('idle_notification is read without a turn, and beside others too', t => {
	const idle = message({type: 'idle_notification'});
	const mail = message({text: 'real'});
	t.deepEqual(next([idle]), {notices: [idle], next: {type: 'nothing'}});
	t.deepEqual(next([idle, mail, idle]), {notices: [idle, idle], next: {type: 'turn', letters: [mail]}});
});

test('own mail starts no turn, and goes with that of others; a namesake of another team is not oneself', t => {
	const own = message({from: 'arch-ctm', text: 'note'});
	t.is(texts([own]), undefined);
	t.is(texts([message({from: 'arch-ctm', sourceTeam: 'atm-dev'})]), undefined);
	t.deepEqual(texts([own, ...written('real')]), ['note', 'real']);
	const notes = Array.from({length: 20}, () => message({from: 'arch-ctm', text: 'note'}));
	t.deepEqual(
		texts([...notes, ...written('real')])?.slice(-2),
		['note', 'real'],
		'and keeps that of nobody waiting',
	);
	t.deepEqual(texts([message({from: 'arch-ctm', sourceTeam: 'other', text: 'hi'})]), ['hi']);
});

test('shutdown_request of the lead closes, before any mail; of others it is mail, of before the session it is nothing', t => {
	const request = (given: Partial<MailMessage> = {}): MailMessage =>
		message({type: 'shutdown_request', from: 'team-lead', text: 'stop', ...given});
	const lead = request();
	t.deepEqual(next([...written('x'), lead]), {notices: [], next: {type: 'close', request: lead}});
	t.deepEqual(texts([request({from: 'dev-1'})]), ['stop']);
	t.deepEqual(texts([request({sourceTeam: 'other'})]), ['stop']);
	t.deepEqual(texts([request()], initialDeliveryState, {lead: undefined}), ['stop']);
	t.deepEqual(next([lead], initialDeliveryState, {since: lead.at + 1}), {
		notices: [lead],
		next: {type: 'nothing'},
	});
	t.is(next([request({at: Number.NaN})]).next.type, 'close', 'whatever time it says');
	const twice = [request(), request()];
	t.deepEqual(idsOf(next(twice).notices), [twice[1]?.id]);
});

test('who has something urgent comes first, and no message overtakes one of its own sender', t => {
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

test('what failed is tried alone, ever later, and parked after five tries; other mail flows [H13]', t => {
	const poison = message({from: 'a', text: 'poison'});
	const behind = message({from: 'a', text: 'behind'});
	const other = message({from: 'b', text: 'other'});
	const unread = [poison, behind, other];
	let state = markFailed(initialDeliveryState, idsOf([poison]), rules, NOW);
	t.deepEqual(texts(unread, state), ['other'], 'what is of the same sender waits for it');
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

test('a batch that failed comes one by one [H13]', t => {
	const unread = written('1', '2', '3');
	const state = markFailed(initialDeliveryState, idsOf(unread), rules, NOW);
	t.deepEqual(texts(unread, state, {}, NOW + 5000), ['1']);
	const after = markDelivered(state, idsOf(unread.slice(0, 1)), rules, NOW + 5000);
	t.deepEqual(texts(unread.slice(1), after, {}, NOW + 5000), ['2']);
});

test('turns of mail in a row are capped, until the client speaks or all is quiet for a while [H14]', t => {
	const unread = written('again');
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

/** Delivers all that comes, wave by wave, until there is nothing left to do. What is poison makes its turn fail. */
function* allTurns(waves: readonly MailMessage[][], given: DeliveryRules) {
	let came: ReadonlySet<MailMessage> = new Set();
	let unread: MailMessage[] = [];
	let state: DeliveryState = initialDeliveryState;
	let now = NOW;
	for (let step = 0; step < 1000; step++) {
		unread = [...unread, ...(waves[step] ?? [])];
		const {next: what} = nextDelivery(unread, state, given, now);
		if (what.type === 'nothing' && step >= waves.length) break;
		if (what.type === 'wait') now = what.until;
		if (what.type !== 'turn') continue;
		const {letters} = what;
		yield {letters, came, state};
		const isLost = letters.some(({text}) => text === 'poison');
		state = (isLost ? markFailed : markDelivered)(state, idsOf(letters), given, now);
		if (!isLost) unread = unread.filter(each => !letters.includes(each));
		if (!isLost) came = new Set([...came, ...letters]);
	}
	return {came, state};
}

test('property: whatever fails, each message comes through or is parked, and none overtakes one of its sender', t => {
	const isPoison = fc.integer({min: 0, max: 5}).map(n => n === 0);
	const letter = fc
		.record({from: fc.constantFrom('a', 'b', 'c'), isUrgent: fc.boolean(), isPoison})
		.map(({isPoison: is, ...given}) => message({...given, text: is ? 'poison' : 'fine'}));
	const arrivals = fc.array(fc.array(letter, {maxLength: 5}), {minLength: 1, maxLength: 8});
	fc.assert(
		fc.property(arrivals, fc.integer({min: 1, max: 4}), (waves, maxMessages) => {
			const order = waves.flat();
			const turns = allTurns(waves, {...rules, maxMessages, maxStreak: 1e6});
			let turn = turns.next();
			for (; !turn.done; turn = turns.next()) {
				const {letters, came, state} = turn.value;
				t.true(letters.length <= maxMessages);
				for (const [nth, sent] of letters.entries()) {
					const before = order.slice(0, order.indexOf(sent)).filter(({from}) => from === sent.from);
					const isThere = new Set([...came, ...letters.slice(0, nth)]);
					t.true(before.every(each => isThere.has(each) || hasExhaustedAttempts(state, each)));
				}
			}
			const {came, state} = turn.value;
			t.true(order.every(each => came.has(each) === (each.text === 'fine')));
			t.true(order.every(each => hasExhaustedAttempts(state, each) === (each.text === 'poison')));
		}),
	);
});
