import {setTimeout as sleep} from 'node:timers/promises';
import type {PendingRequests} from '../../lib/core/requests/pending.js';

const POLL_MS = 10;

/** Resolves when nobody waits for an answer any more. */
export async function waitForPending(pending: PendingRequests): Promise<void> {
	// What was said last may still be on its way to here.
	do await sleep(POLL_MS);
	while (pending.hasPending);
}
