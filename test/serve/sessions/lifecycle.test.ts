import test from 'ava';
import {
	initialLifecycle,
	type LifecycleEvent,
	type LifecycleState,
	nextLifecycle,
	sessionStateOf,
} from '../../../lib/serve/sessions/lifecycle.js';

const after = (...events: LifecycleEvent[]): string => {
	const state = events.reduce<LifecycleState>(nextLifecycle, initialLifecycle);
	return `${state.stage} ${state.status}`;
};

const cases: ReadonlyArray<readonly [events: readonly LifecycleEvent[], state: string]> = [
	[[], 'starting active'],
	[['thread_known'], 'busy active'],
	[['thread_known', 'turn_ended'], 'idle active'],
	[['turn_ended'], 'idle active'],
	[['thread_known', 'turn_ended', 'turn_started'], 'busy active'],
	[['thread_known', 'turn_ended', 'turn_started', 'turn_ended'], 'idle active'],
	[['start_failed'], 'closed closed'],
	[['thread_known', 'closed'], 'closed closed'],
	[['thread_known', 'interrupted'], 'closed interrupted'],
	[['thread_known', 'turn_ended', 'closed'], 'closed closed'],
	[['thread_known', 'child_exited'], 'closed stale'],
	[['child_exited', 'turn_ended'], 'closed stale'],
	[['thread_known', 'closed', 'turn_started', 'turn_ended', 'child_exited'], 'closed closed'],
	[['thread_known', 'closed', 'resumed'], 'starting active'],
	[['thread_known', 'child_exited', 'resumed', 'thread_known', 'turn_ended'], 'idle active'],
];

for (const [events, state] of cases)
	test(`the state after ${events.join(', ') || 'no event'} is ${state} [FR-17.2]`, t =>
		t.is(after(...events), state));

test('reports a starting session as busy [FR-17.1]', t => {
	t.is(sessionStateOf(initialLifecycle), 'busy');
	t.is(sessionStateOf({stage: 'idle', status: 'active'}), 'idle');
});
