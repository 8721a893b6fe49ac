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
const submit = (turn: Turn): TurnQueueEvent => ({type: 'submit', turn});
const ended = (id: string, isConfirmed = true, isSuccessful = true): TurnQueueEvent => ({
	type: 'ended',
	id,
	isConfirmed,
	isSuccessful,
});
const close = (wantsSummary = false): TurnQueueEvent => ({type: 'close', wantsSummary});

function describe(actions: readonly TurnQueueAction[]): string[] {
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
		log.push(...describe(step.actions));
	}
	return {state, log};
}

const cases: ReadonlyArray<
	readonly [title: string, events: readonly TurnQueueEvent[], log: readonly string[]]
> = [
	['starts a first turn at once', [submit(client('a'))], ['start:a']],
	['queues a second turn [FR-8.9]', [submit(client('a')), submit(client('b'))], ['start:a']],
	[
		'starts queued turns in order [FR-8.10]',
		[submit(client('a')), submit(client('b')), submit(client('c')), ended('a'), ended('b')],
		['start:a', 'start:b', 'start:c'],
	],
	[
		'starts turns of clients before mail that arrived earlier [FR-8.11]',
		[submit(client('a')), submit(mail('m')), submit(client('b')), ended('a'), ended('b')],
		['start:a', 'start:b', 'start:m'],
	],
	[
		'queues at most one turn for mail',
		[submit(client('a')), submit(mail('m')), submit(mail('n'))],
		['start:a', 'reject:n:full'],
	],
	[
		'rejects turns beyond the limit',
		[...'abcde'].map(id => submit(client(id))),
		['start:a', 'reject:e:full'],
	],
	[
		'removes a cancelled turn from the queue',
		[submit(client('a')), submit(client('b')), {type: 'cancel', id: 'b'}, ended('a')],
		['start:a', 'reject:b:cancelled'],
	],
	[
		'removes a cancelled turn for mail from the queue',
		[submit(client('a')), submit(mail('m')), {type: 'cancel', id: 'm'}, ended('a')],
		['start:a', 'reject:m:cancelled'],
	],
	[
		'stops a cancelled running turn once',
		[submit(client('a')), {type: 'cancel', id: 'a'}, {type: 'timeout', id: 'a'}, {type: 'cancel', id: 'a'}],
		['start:a', 'stop:a:cancelled'],
	],
	[
		'a timeout stops only the running turn',
		[
			submit(client('a')),
			submit(client('b')),
			{type: 'timeout', id: 'b'},
			{type: 'timeout', id: 'a'},
			ended('a', false),
		],
		['start:a', 'stop:a:timeout', 'start:b'],
	],
	[
		'ignores the end of a turn that is not running',
		[submit(client('a')), ended('x'), ended('a'), ended('a')],
		['start:a'],
	],
	[
		'closes an idle session at once [FR-17.3]',
		[submit(client('a')), ended('a'), close()],
		['start:a', 'closed:closed'],
	],
	[
		'runs a summary turn before closing an idle session with wantsSummary [FR-7.1]',
		[submit(client('a')), ended('a'), close(true), ended(SUMMARY_TURN.id)],
		['start:a', 'start:summary', 'closed:closed'],
	],
	[
		'close rejects queued turns, stops the running one and requests a summary [FR-17.10]',
		[
			submit(client('a')),
			submit(mail('m')),
			submit(client('b')),
			close(),
			ended('a'),
			ended(SUMMARY_TURN.id),
		],
		['start:a', 'reject:b:closed', 'reject:m:closed', 'stop:a:closed', 'start:summary', 'closed:closed'],
	],
	[
		'requests no summary if the end of the turn is not confirmed [FR-17.4]',
		[submit(client('a')), close(), ended('a', false)],
		['start:a', 'stop:a:closed', 'closed:interrupted'],
	],
	[
		'closes as interrupted if the summary fails [FR-17.4]',
		[submit(client('a')), close(), ended('a'), ended(SUMMARY_TURN.id, true, false)],
		['start:a', 'stop:a:closed', 'start:summary', 'closed:interrupted'],
	],
	[
		'close takes precedence over a pending cancellation [FR-17.11]',
		[submit(client('a')), {type: 'cancel', id: 'a'}, close(), ended('a'), ended(SUMMARY_TURN.id)],
		['start:a', 'stop:a:cancelled', 'start:summary', 'closed:closed'],
	],
	['ignores a second close [FR-17.9]', [close(), close(), close(true)], ['closed:closed']],
	[
		'rejects turns after close',
		[close(), submit(client('a')), submit(mail('m'))],
		['closed:closed', 'reject:a:closed', 'reject:m:closed'],
	],
	[
		'stops the summary and closes when the time limit expires',
		[submit(client('a')), close(), ended('a'), {type: 'expired'}, ended(SUMMARY_TURN.id)],
		['start:a', 'stop:a:closed', 'start:summary', 'stop:summary:closed', 'closed:interrupted'],
	],
	['ignores the time limit while the session is open', [submit(client('a')), {type: 'expired'}], ['start:a']],
	[
		'rejects running and queued turns when Codex exits [FR-11.1]',
		[
			submit(client('a')),
			submit(client('b')),
			submit(mail('m')),
			{type: 'codex_exited'},
			{type: 'codex_exited'},
			ended('a'),
		],
		['start:a', 'reject:a:gone', 'reject:b:gone', 'reject:m:gone', 'closed:interrupted'],
	],
];

for (const [title, events, log] of cases) test(title, t => t.deepEqual(after(...events).log, [...log]));

test('keeps no queued mail when an idle session starts its turn [FR-17.10]', t => {
	t.is(after(submit(mail('m')), ended('m')).state.queuedMail, undefined);
});
