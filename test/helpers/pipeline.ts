import {setTimeout as sleep} from 'node:timers/promises';
import {Subject} from 'rxjs';
import {Envelope} from '../../lib/core/envelope.js';
import {createLog, type Log} from '../../lib/core/log.js';
import {type MemoryEndpoint, memoryEndpoint} from '../../lib/core/memory-endpoint.js';
import {connect, type Stage} from '../../lib/core/stage.js';

/** A memory endpoint that can also send raw bytes and envelopes. */
export type Speaker = MemoryEndpoint & {
	sayBytes(bytes: Uint8Array): void;
	sayEnvelope(envelope: Envelope): void;
};

function speaker(name: string): Speaker {
	const endpoint = memoryEndpoint(name);
	const incoming = new Subject<Envelope>();
	endpoint.incoming.subscribe(incoming);
	return {
		...endpoint,
		incoming,
		sayBytes: bytes => incoming.next(Envelope.received(Buffer.from(bytes), endpoint.origin)),
		sayEnvelope: envelope => incoming.next(envelope),
	};
}

/** A client and an upstream named `files`, connected by stages. */
export function converse(...stages: Stage[]) {
	const [client, upstream] = [speaker('client'), speaker('files')];
	const link = connect(client, stages, upstream);
	return {client, upstream, link};
}

export type LogEntry = {readonly event: string; readonly msg: string; readonly [field: string]: unknown};

export function readableLog(): {log: Log; entries(): Promise<LogEntry[]>} {
	const lines: string[] = [];
	const log = createLog({level: 'trace', write: line => lines.push(line), isPretty: false});
	return {
		log,
		async entries() {
			await log.flush();
			return lines.map(line => JSON.parse(line) as LogEntry);
		},
	};
}

/** Waits until a condition is true. Throws after a minute, because the machine may be busy. */
export async function until(condition: () => boolean): Promise<void> {
	for (const started = performance.now(); !condition(); await sleep(2))
		if (performance.now() - started > 60_000) throw new Error(`Timed out waiting for: ${condition}`);
}

/** Resolves when all pending callbacks have run. */
export const settled = (): Promise<void> => new Promise(resolve => setImmediate(() => setImmediate(resolve)));
