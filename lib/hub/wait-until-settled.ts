import {setTimeout} from 'node:timers/promises';
import {unlessAborted} from '../util/unless-aborted.js';
import type {HubUpstream} from './hub-upstream.js';

/** Waits while an upstream is connecting, at most for its request timeout. */
export async function waitUntilSettled({settled, service}: HubUpstream, signal: AbortSignal): Promise<void> {
	const {timeoutMs} = service.config;
	if (timeoutMs === 0) return unlessAborted(settled, signal);
	const timer = new AbortController();
	const timeout = setTimeout(timeoutMs, undefined, {ref: false, signal: timer.signal}).catch(() => {});
	try {
		await unlessAborted(Promise.race([settled, timeout]), signal);
	} finally {
		timer.abort();
	}
}
