import {performance} from 'node:perf_hooks';
import type {Envelope} from '../../../lib/core/envelope.js';
import type {StdioEndpoint} from '../../../lib/transports/stdio/stdio.js';
import {pause} from '../../../lib/util/pause.js';
import type {StopSignals} from '../../shared/stop-signals.js';

/** The time limits for the first request of a client and between later ones. */
const [FIRST_MS, NEXT_MS] = [3000, 250];
/** The time limit for all requests. */
const MAX_MS = 10_000;
const POLL_MS = 10;

/**
 * Waits until the client's requests have received the error of the failed start, and flushes the responses.
 */
export async function waitForErrorResponses(
	client: StdioEndpoint,
	stop: StopSignals,
	responses: () => number,
): Promise<void> {
	await Promise.race([client.inputEnded, client.disconnected, stop.requested, waitForSilence(responses)]);
	await Promise.race([client.close(), client.disconnected, stop.forced]);
}

async function waitForSilence(responses: () => number): Promise<void> {
	const began = performance.now();
	let [lastCount, since] = [0, began];
	while (performance.now() - since < (lastCount === 0 ? FIRST_MS : NEXT_MS) && since - began < MAX_MS) {
		await pause(POLL_MS);
		if (responses() !== lastCount) [lastCount, since] = [responses(), performance.now()];
	}
}

/** Wraps a client so that the messages sent to it are counted. */
export function countSentMessages(client: StdioEndpoint): {
	readonly counted: StdioEndpoint;
	readonly sentMessages: () => number;
} {
	let count = 0;
	const next = (envelope: Envelope): void => {
		count++;
		client.outgoing.next(envelope);
	};
	return {counted: {...client, outgoing: {...client.outgoing, next}}, sentMessages: () => count};
}
