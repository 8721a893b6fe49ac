import test from 'ava';
import {
	advanceTurnQueue,
	emptyTurnQueue,
	SUMMARY_TURN,
	type Turn,
	type TurnQueue,
	type TurnQueueAction,
	type TurnQueueEvent,
} from '../../../lib/serve/sessions/turn-queue.js';

const client = (id: string): Turn => ({id, source: 'client'});
const mail = (id: string): Turn => ({id, source: 'mail'});
const ask = (turn: Turn): TurnQueueEvent => ({type: 'ask', turn});
const ended = (id: string, isConfirmed = true, isWell = true): TurnQueueEvent => ({
	type: 'ended',
	id,
	isConfirmed,
	isSuccessful: isWell,
});
const close = (wantsSummary = false): TurnQueueEvent => ({type: 'close', wantsSummary});

/** What is done, in words. */
function told(actions: readonly TurnQueueAction[]): string[] {
	return actions.map(action =>
		action.type === 'closed'
			? `closed:${action.ending}`
			: `${action.type}:${action.turn.id}${'reason' in action ? `:${action.reason}` : ''}`,
	);
}

function after(...events: TurnQueueEvent[]): {readonly state: TurnQueue; readonly log: string[]} {
	let state = emptyTurnQueue(3);
	const log: string[] = [];
	for (const event of events) {
		const step = advanceTurnQueue(state, event);
		state = step.state;
		log.push(...told(step.actions));
	}
	return {state, log};
}

const cases: ReadonlyArray<
	readonly [title: string, events: readonly TurnQueueEvent[], log: readonly string[]]
> = [
	['a first turn starts at once', [ask(client('a'))], ['start:a']],
	['FR-8.9 a second waits for the first', [ask(client('a')), ask(client('b'))], ['start:a']],
	[
		'FR-8.10 those that wait go in order',
		[ask(client('a')), ask(client('b')), ask(client('c')), ended('a'), ended('b')],
		['start:a', 'start:b', 'start:c'],
	],
	[
		'FR-8.11 the client goes before mail that came first',
		[ask(client('a')), ask(mail('m')), ask(client('b')), ended('a'), ended('b')],
		['start:a', 'start:b', 'start:m'],
	],
	[
		'one mail waits, no more',
		[ask(client('a')), ask(mail('m')), ask(mail('n'))],
		['start:a', 'refuse:n:full'],
	],
	['the queue has a limit', [...'abcde'].map(id => ask(client(id))), ['start:a', 'refuse:e:full']],
	[
		'a cancelled turn that waits is gone',
		[ask(client('a')), ask(client('b')), {type: 'cancel', id: 'b'}, ended('a')],
		['start:a', 'refuse:b:cancelled'],
	],
	[
		'a cancelled mail that waits is gone',
		[ask(client('a')), ask(mail('m')), {type: 'cancel', id: 'm'}, ended('a')],
		['start:a', 'refuse:m:cancelled'],
	],
	[
		'a cancelled turn that runs is stopped, once',
		[ask(client('a')), {type: 'cancel', id: 'a'}, {type: 'timeout', id: 'a'}, {type: 'cancel', id: 'a'}],
		['start:a', 'stop:a:cancelled'],
	],
	[
		'a timeout stops what runs and nothing else',
		[
			ask(client('a')),
			ask(client('b')),
			{type: 'timeout', id: 'b'},
			{type: 'timeout', id: 'a'},
			ended('a', false),
		],
		['start:a', 'stop:a:timeout', 'start:b'],
	],
	[
		'a late end of another turn is nothing',
		[ask(client('a')), ended('x'), ended('a'), ended('a')],
		['start:a'],
	],
	[
		'FR-17.3 an idle one closes at once',
		[ask(client('a')), ended('a'), close()],
		['start:a', 'closed:closed'],
	],
	[
		'FR-7.1 an idle one tells its summary first where that is wanted',
		[ask(client('a')), ended('a'), close(true), ended(SUMMARY_TURN.id)],
		['start:a', 'start:summary', 'closed:closed'],
	],
	[
		'FR-17.10 close refuses what waits, stops what runs, asks for a summary',
		[ask(client('a')), ask(mail('m')), ask(client('b')), close(), ended('a'), ended(SUMMARY_TURN.id)],
		['start:a', 'refuse:b:closed', 'refuse:m:closed', 'stop:a:closed', 'start:summary', 'closed:closed'],
	],
	[
		'FR-17.4 without a sign that the turn has stopped there is no summary',
		[ask(client('a')), close(), ended('a', false)],
		['start:a', 'stop:a:closed', 'closed:interrupted'],
	],
	[
		'FR-17.4 without a summary it was interrupted',
		[ask(client('a')), close(), ended('a'), ended(SUMMARY_TURN.id, true, false)],
		['start:a', 'stop:a:closed', 'start:summary', 'closed:interrupted'],
	],
	[
		'FR-17.11 close goes before a cancel that is under way',
		[ask(client('a')), {type: 'cancel', id: 'a'}, close(), ended('a'), ended(SUMMARY_TURN.id)],
		['start:a', 'stop:a:cancelled', 'start:summary', 'closed:closed'],
	],
	['FR-17.9 closing twice is closing once', [close(), close(), close(true)], ['closed:closed']],
	[
		'nothing runs after close',
		[close(), ask(client('a')), ask(mail('m'))],
		['closed:closed', 'refuse:a:closed', 'refuse:m:closed'],
	],
	[
		'when the time is over, it is over',
		[ask(client('a')), close(), ended('a'), {type: 'expired'}, ended(SUMMARY_TURN.id)],
		['start:a', 'stop:a:closed', 'start:summary', 'stop:summary:closed', 'closed:interrupted'],
	],
	['no time is over where nobody closes', [ask(client('a')), {type: 'expired'}], ['start:a']],
	[
		'FR-11.1 all are told that Codex is gone',
		[ask(client('a')), ask(client('b')), ask(mail('m')), {type: 'gone'}, {type: 'gone'}, ended('a')],
		['start:a', 'refuse:a:gone', 'refuse:b:gone', 'refuse:m:gone', 'closed:interrupted'],
	],
];

for (const [title, events, log] of cases) test(title, t => t.deepEqual(after(...events).log, [...log]));

test('a waiting mail is dropped when an idle session could not have any [FR-17.10]', t => {
	t.is(after(ask(mail('m')), ended('m')).state.queuedMail, undefined);
});
