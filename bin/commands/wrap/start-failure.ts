import {performance} from 'node:perf_hooks';
import type {Envelope} from '../../../lib/core/envelope.js';
import type {StdioEndpoint} from '../../../lib/transports/stdio/stdio.js';
import {pause} from '../../../lib/util/pause.js';
import type {StopSignals} from '../../shared/stop-signals.js';

/** How long a client may take to send its first request, and then the next one. */
const [FIRST_MS, NEXT_MS] = [3000, 250];
/** The most for all of them. */
const MAX_MS = 10_000;
const POLL_MS = 10;

/** Waits until the requests of a client have the error of a server that could not be started, and writes the responses. */
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

/** A client, and the number of messages sent to it so far. */
export function countSentMessages(client: StdioEndpoint): {
	readonly counted: StdioEndpoint;
	readonly messages: () => number;
} {
	let count = 0;
	const next = (envelope: Envelope): void => {
		count++;
		client.outgoing.next(envelope);
	};
	return {counted: {...client, outgoing: {...client.outgoing, next}}, messages: () => count};
}
