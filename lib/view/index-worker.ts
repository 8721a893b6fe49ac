import {performance} from 'node:perf_hooks';
import {parentPort, workerData} from 'node:worker_threads';
import type {IndexNews, IndexTask} from './index-messages.js';
import {IndexRun} from './index-run.js';
import {Indexer} from './indexer.js';
import {LogBytes} from './log-bytes.js';

/** How often it is told how far it has come. */
const TOLD_EVERY_MS = 50;

const {fds} = workerData as IndexTask;
const bytes = new LogBytes(fds);
const indexer = new Indexer();
const run = new IndexRun({bytes, indexer});
let [toldSegments, toldMethods] = [0, 0];
let toldAt = 0;
let isRunning = false;

function tell(isAtEnd: boolean): void {
	const {columns, methods, connections} = indexer;
	const news: IndexNews = {
		segments: columns.segments.slice(toldSegments).map(({memory}) => memory),
		rows: columns.count,
		readBytes: run.position,
		totalBytes: bytes.end,
		methods: methods.texts.slice(toldMethods),
		connections: connections.takeChanges(),
		tailBytes: run.tailBytes,
		isAtEnd,
		isFull: indexer.isFull,
	};
	toldSegments = columns.segments.length;
	toldMethods = methods.texts.length;
	toldAt = performance.now();
	parentPort?.postMessage(news);
}

function go(): void {
	isRunning = run.step();
	if (!isRunning || performance.now() - toldAt > TOLD_EVERY_MS) tell(!isRunning);
	if (isRunning) setImmediate(go);
}

parentPort?.on('message', () => {
	if (isRunning) return;
	isRunning = true;
	go();
});
isRunning = true;
go();
