import {performance} from 'node:perf_hooks';
import {parentPort, workerData} from 'node:worker_threads';
import type {IndexTask, IndexUpdate} from './index-worker-messages.js';
import {LogBytes} from './log-bytes.js';
import {LogIndexer} from './log-indexer.js';
import {LogScanner} from './log-scanner.js';

/** Minimum interval of updates. */
const UPDATE_INTERVAL_MS = 50;

const {fds} = workerData as IndexTask;
const bytes = new LogBytes(fds);
const indexer = new LogIndexer();
const scanner = new LogScanner({bytes, indexer});
let [sentSegments, sentMethods] = [0, 0];
let sentAt = 0;
let isRunning = false;

function postUpdate(isAtEnd: boolean): void {
	const {columns, methods, connections} = indexer;
	const update: IndexUpdate = {
		segments: columns.segments.slice(sentSegments).map(({memory}) => memory),
		rows: columns.count,
		readBytes: scanner.position,
		totalBytes: bytes.end,
		methods: methods.texts.slice(sentMethods),
		connections: connections.takeChanges(),
		tailBytes: scanner.tailBytes,
		isAtEnd,
		isFull: indexer.isFull,
	};
	sentSegments = columns.segments.length;
	sentMethods = methods.texts.length;
	sentAt = performance.now();
	parentPort?.postMessage(update);
}

function scanNext(): void {
	isRunning = scanner.step();
	if (!isRunning || performance.now() - sentAt > UPDATE_INTERVAL_MS) postUpdate(!isRunning);
	if (isRunning) setImmediate(scanNext);
}

parentPort?.on('message', () => {
	if (isRunning) return;
	isRunning = true;
	scanNext();
});
isRunning = true;
scanNext();
