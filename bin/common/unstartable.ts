import {performance} from 'node:perf_hooks';
import type {Envelope} from '../../lib/envelope.js';
import {pause} from '../../lib/pause.js';
import type {OwnStdio} from '../../lib/transports/own-stdio.js';
import type {Stop} from './signals.js';

/** How long a client may take to send its first request, and then the next one. */
const [FIRST_MS, NEXT_MS] = [3000, 250];
/** The most for all of them. */
const MAX_MS = 10_000;
const POLL_MS = 10;

/** Waits until the requests of a client have the error of a server that could not be started, and writes the responses. */
export async function answerAll(client: OwnStdio, stop: Stop, responses: () => number): Promise<void> {
	await Promise.race([client.ended, client.gone, stop.asked, quiet(responses)]);
	await Promise.race([client.close(), client.gone, stop.urged]);
}

async function quiet(responses: () => number): Promise<void> {
	const began = performance.now();
	let [seen, since] = [0, began];
	while (performance.now() - since < (seen === 0 ? FIRST_MS : NEXT_MS) && since - began < MAX_MS) {
		await pause(POLL_MS);
		if (responses() !== seen) [seen, since] = [responses(), performance.now()];
	}
}

/** A client, and the number of messages sent to it so far. */
export function countMessages(client: OwnStdio): {
	readonly counted: OwnStdio;
	readonly messages: () => number;
} {
	let count = 0;
	const next = (envelope: Envelope): void => {
		count++;
		client.outgoing.next(envelope);
	};
	return {counted: {...client, outgoing: {...client.outgoing, next}}, messages: () => count};
}
