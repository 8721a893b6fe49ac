import {setTimeout as sleep} from 'node:timers/promises';
import type {PendingRequests} from '../../lib/core/requests/pending.js';

const POLL_MS = 10;

export async function waitForPending(pending: PendingRequests): Promise<void> {
	// The last message may still be in transit, so it polls after a delay.
	do await sleep(POLL_MS);
	while (pending.hasPending);
}
