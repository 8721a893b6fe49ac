import {mock} from 'node:test';
import type {ExecutionContext} from 'ava';

/** Mocks timers until the end of the test. The test must be serial and must not wait for real timers. */
export function fakeTimers(t: ExecutionContext): {tick(ms: number): void} {
	mock.timers.enable({apis: ['setTimeout', 'setInterval']});
	t.teardown(() => mock.timers.reset());
	return {tick: ms => mock.timers.tick(ms)};
}
