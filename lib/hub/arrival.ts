import {setTimeout} from 'node:timers/promises';
import {unlessAborted} from '../run/unless-aborted.js';
import type {Member} from './member.js';

/** Waits while a server is still connecting, at most for the time that one call of it may take. */
export async function arrival({settled, service}: Member, signal: AbortSignal): Promise<void> {
	const {timeoutMs} = service.config;
	if (timeoutMs === 0) return unlessAborted(settled, signal);
	const over = new AbortController();
	const limit = setTimeout(timeoutMs, undefined, {ref: false, signal: over.signal}).catch(() => {});
	try {
		await unlessAborted(Promise.race([settled, limit]), signal);
	} finally {
		over.abort();
	}
}
