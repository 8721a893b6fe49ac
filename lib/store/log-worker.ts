import {parentPort, workerData} from 'node:worker_threads';
import {Valve} from '../valve.js';
import {asRecords} from './line-form.js';
import type {FromWorker, LogSettings, ToWorker} from './log-messages.js';
import {type Stream, TrafficLog} from './traffic-log.js';

/*
 * The thread that logs. It writes lines out and to disk, which costs far more than to forward what they tell of, so that who
 * forwards has nothing to do but to hand bytes over.
 */

const settings = workerData as LogSettings;
/** To write costs those who forward, as long as there are no more processors than they need: it can wait, and memory can be had. */
const earlyBytes = settings.maxBytes / 2;
const logs = new Map<number, TrafficLog>();
/** Who sends lines, as far as a log that is full can hold them up. */
const sender = {name: 'sender', valve: new Valve()};
let isFull = false;
let stdoutWrote: ((error: string | undefined) => void) | undefined;

const tell = (message: FromWorker, transfer: readonly ArrayBuffer[] = []): void =>
	parentPort?.postMessage(message, transfer);

/** Stdout is not this thread's: what is to be written there is handed back. */
const stdout: Stream = {
	async write(buffers) {
		const bytes = new Uint8Array(Buffer.concat(buffers));
		const {length} = bytes;
		tell({kind: 'write', bytes}, [bytes.buffer]);
		const error = await new Promise<string | undefined>(resolve => {
			stdoutWrote = resolve;
		});
		if (error !== undefined) throw new Error(error);
		return length;
	},
};

/** How much of a block was filled, of those that only one log has. */
const fills = new WeakMap<ArrayBufferLike, number>();

/** Gives a block back that is written to its end. */
function giveBack({buffer, byteOffset, length}: Buffer): void {
	if (fills.get(buffer) !== byteOffset + length || !(buffer instanceof ArrayBuffer)) return;
	tell({kind: 'spare', memory: buffer}, [buffer]);
}

function open({key, destination}: ToWorker & {kind: 'open'}): void {
	const log: TrafficLog = new TrafficLog({
		...settings,
		earlyBytes,
		form: asRecords(giveBack),
		destination: destination === 'stdout' ? stdout : destination,
		onTrouble: sentence => tell({kind: 'trouble', key, sentence, leftOutLines: log.leftOutLines}),
	});
	logs.set(key, log);
}

function add({block, gap}: ToWorker & {kind: 'records'}): void {
	// By the time that it has been written it may be somebody else's.
	const bytes = block.length;
	if (logs.size === 1) fills.set(block.buffer, bytes);
	for (const log of logs.values()) {
		if (gap) log.leaveOut(gap.lines, gap.bytes);
		log.addRecords(bufferOf(block), sender);
	}
	tellIfFull();
	// Last, since who waits for that goes on.
	tell({kind: 'taken', bytes});
}

function tellIfFull(): void {
	if (isFull || sender.valve.isOpen) return;
	isFull = true;
	tell({kind: 'full', isFull});
	sender.valve.whenOpen(() => {
		isFull = false;
		tell({kind: 'full', isFull});
	});
}

async function close({key, last}: ToWorker & {kind: 'close'}): Promise<void> {
	const log = logs.get(key);
	logs.delete(key);
	if (last) log?.addRecords(bufferOf(last));
	const lostBytes = (await log?.close()) ?? 0;
	tell({kind: 'closed', key, lostBytes, leftOutLines: log?.leftOutLines ?? 0});
}

const bufferOf = ({buffer, byteOffset, length}: Uint8Array): Buffer =>
	Buffer.from(buffer, byteOffset, length);

parentPort?.on('message', (message: ToWorker) => {
	switch (message.kind) {
		case 'open':
			return open(message);
		case 'records':
			return add(message);
		case 'close':
			return void close(message);
		case 'wrote':
			return stdoutWrote?.(message.error);
	}
});
