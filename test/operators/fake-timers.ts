import {mock} from 'node:test';
import type {ExecutionContext} from 'ava';

/** Timers that only the test lets run, for as long as it lasts. Such tests are serial, and wait for nothing. */
export function fakeTimers(t: ExecutionContext): {tick(ms: number): void} {
	mock.timers.enable({apis: ['setTimeout', 'setInterval']});
	t.teardown(() => mock.timers.reset());
	return {tick: ms => mock.timers.tick(ms)};
}
