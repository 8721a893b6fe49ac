import {parentPort, workerData} from 'node:worker_threads';
import {Valve} from '../core/valve.js';
import {recordEncoding} from './line-encoding.js';
import type {FromLogWorker, LogSettings, ToLogWorker} from './log-worker-messages.js';
import {type LogStream, TrafficLog} from './traffic-log.js';

/*
 * The thread that logs. It writes lines out and to disk, which costs far more than to forward what they tell of, so that who
 * forwards has nothing to do but to hand bytes over.
 */

const settings = workerData as LogSettings;
/** To write costs those who forward, as long as there are no more processors than they need: it can wait, and memory can be had. */
const flushThresholdBytes = settings.maxBytes / 2;
const logs = new Map<number, TrafficLog>();
/** Who sends lines, as far as a log that is full can hold them up. */
const sender = {name: 'sender', valve: new Valve()};
let isFull = false;
let resolveStdoutWrite: ((error: string | undefined) => void) | undefined;

const post = (message: FromLogWorker, transfer: readonly ArrayBuffer[] = []): void =>
	parentPort?.postMessage(message, transfer);

/** Stdout is not this thread's: what is to be written there is handed back. */
const stdout: LogStream = {
	async write(buffers) {
		const bytes = new Uint8Array(Buffer.concat(buffers));
		const {length} = bytes;
		post({kind: 'write', bytes}, [bytes.buffer]);
		const error = await new Promise<string | undefined>(resolve => {
			resolveStdoutWrite = resolve;
		});
		if (error !== undefined) throw new Error(error);
		return length;
	},
};

/** How much of a block was filled, of those that only one log has. */
const blockLengths = new WeakMap<ArrayBufferLike, number>();

/** Gives a block back that is written to its end. */
function returnBlock({buffer, byteOffset, length}: Buffer): void {
	if (blockLengths.get(buffer) !== byteOffset + length || !(buffer instanceof ArrayBuffer)) return;
	post({kind: 'spare', memory: buffer}, [buffer]);
}

function openLog({key, destination}: ToLogWorker & {kind: 'open'}): void {
	const log: TrafficLog = new TrafficLog({
		...settings,
		flushThresholdBytes,
		encoding: recordEncoding(returnBlock),
		destination: destination === 'stdout' ? stdout : destination,
		onTrouble: sentence => post({kind: 'trouble', key, sentence, leftOutLines: log.droppedLines}),
	});
	logs.set(key, log);
}

function addRecords({block, gap}: ToLogWorker & {kind: 'records'}): void {
	// By the time that it has been written it may be somebody else's.
	const bytes = block.length;
	if (logs.size === 1) blockLengths.set(block.buffer, bytes);
	for (const log of logs.values()) {
		if (gap) log.countDropped(gap.lines, gap.bytes);
		log.addRecords(bufferOf(block), sender);
	}
	postIfFull();
	// Last, since who waits for that goes on.
	post({kind: 'taken', bytes});
}

function postIfFull(): void {
	if (isFull || sender.valve.isOpen) return;
	isFull = true;
	post({kind: 'full', isFull});
	sender.valve.whenOpen(() => {
		isFull = false;
		post({kind: 'full', isFull});
	});
}

async function closeLog({key, last}: ToLogWorker & {kind: 'close'}): Promise<void> {
	const log = logs.get(key);
	logs.delete(key);
	if (last) log?.addRecords(bufferOf(last));
	const lostBytes = (await log?.close()) ?? 0;
	post({kind: 'closed', key, lostBytes, leftOutLines: log?.droppedLines ?? 0});
}

const bufferOf = ({buffer, byteOffset, length}: Uint8Array): Buffer =>
	Buffer.from(buffer, byteOffset, length);

parentPort?.on('message', (message: ToLogWorker) => {
	switch (message.kind) {
		case 'open':
			return openLog(message);
		case 'records':
			return addRecords(message);
		case 'close':
			return void closeLog(message);
		case 'wrote':
			return resolveStdoutWrite?.(message.error);
	}
});
