import {parentPort, workerData} from 'node:worker_threads';
import {Valve} from '../core/valve.js';
import {recordEncoding} from './line-encoding.js';
import type {FromLogWorker, LogSettings, ToLogWorker} from './log-worker-messages.js';
import {type LogStream, TrafficLog} from './traffic-log.js';

// The log worker. Formatting and writing lines costs far more than forwarding the traffic. The main thread
// therefore only passes bytes to this one.

const settings = workerData as LogSettings;
/** Early writes would compete with forwarding for the CPU, so half of the memory may be used first. */
const flushThresholdBytes = settings.maxBytes / 2;
const logs = new Map<number, TrafficLog>();
/** The origin of all lines. A full log shuts its valve. */
const sender = {name: 'sender', valve: new Valve()};
let isFull = false;
let resolveStdoutWrite: ((error: string | undefined) => void) | undefined;

const post = (message: FromLogWorker, transfer: readonly ArrayBuffer[] = []): void =>
	parentPort?.postMessage(message, transfer);

/** Stdout belongs to the main thread, which writes on behalf of the worker. */
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

/** The used length of each block that only one log has. */
const blockLengths = new WeakMap<ArrayBufferLike, number>();

/** Returns a block for reuse when all of it is written. */
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
		onTrouble: text => post({kind: 'trouble', key, text, leftOutLines: log.droppedLines}),
	});
	logs.set(key, log);
}

function addRecords({block, gap}: ToLogWorker & {kind: 'records'}): void {
	// Read first, since the block may be transferred during the loop.
	const bytes = block.length;
	if (logs.size === 1) blockLengths.set(block.buffer, bytes);
	for (const log of logs.values()) {
		if (gap) log.countDropped(gap.lines, gap.bytes);
		log.addRecords(bufferOf(block), sender);
	}
	postIfFull();
	// Sent last, since the main thread may then open its valves.
	post({kind: 'processed', bytes});
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
