import {readFileSync} from 'node:fs';
import {workerData} from 'node:worker_threads';
import type {BootData, PythonSnapshot, RunData} from './messages.js';
import {prelude} from './prelude.js';
import {ProgramInput, ProgramOutput, postToMain, waitForTermination} from './program-io.js';
import {WasiExit, type WasiHost, wasiImports} from './wasi.js';
import {type DataSegment, patchModule, STACK_POINTER_EXPORT, TABLE_EXPORT} from './wasm-module.js';
import {
	type WasmGlobal,
	type WasmMemory,
	type WasmModule,
	type WasmTable,
	webAssembly,
} from './web-assembly.js';

const PAGE = 65_536;
/**
 * The size of the C stack, at the end of the memory. The half megabyte of the build is not enough for the
 * recursion depth that Python allows, so Python would not detect an overflow.
 */
const STACK_BYTES = 128 * PAGE;
/** The offset of `tp_call` in a Python type: after sixteen words. */
const CALL_SLOT = 64;

/** Thrown through the interpreter to stop it at the point of the snapshot. */
class SnapshotReady extends Error {}

function instantiate(module: WasmModule, host: WasiHost) {
	const instance = new webAssembly.Instance(module, {
		wasi_snapshot_preview1: wasiImports(module, () => memory, host),
	});
	const {
		memory: exported,
		[TABLE_EXPORT]: table,
		[STACK_POINTER_EXPORT]: stack,
		_start: start,
	} = instance.exports;
	const memory = exported as WasmMemory;
	return {memory, table: table as WasmTable, stack: stack as WasmGlobal, start: start as () => void};
}

/** Boots Python, runs the prelude and copies the memory. */
function createSnapshot({path, maxMemoryBytes}: BootData): PythonSnapshot {
	const {bytes, segments} = patchModule(readFileSync(path), maxMemoryBytes);
	const module = new webAssembly.Module(bytes);
	let output = '';
	const {memory, start} = instantiate(module, {
		args: ['python', '-I', '-S', '-B', '-W', 'ignore', '-X', 'utf8', '-c', prelude],
		write: (_file, piece) => {
			output += Buffer.from(piece).toString();
		},
		read: () => 0,
		tick: () => {
			if (output.includes('\n')) throw new SnapshotReady();
		},
	});
	copySegments(memory, segments);
	try {
		start();
	} catch (error) {
		if (!(error instanceof SnapshotReady)) throw new Error(`Python did not start: ${output || error}`);
	}
	const image = new SharedArrayBuffer(memory.buffer.byteLength);
	new Uint8Array(image).set(new Uint8Array(memory.buffer));
	return {module, image, entry: JSON.parse(output).ready};
}

function copySegments(memory: WasmMemory, segments: readonly DataSegment[]): void {
	const bytes = new Uint8Array(memory.buffer);
	for (const [offset, data] of segments) bytes.set(data, offset);
}

/**
 * Runs the program and posts its messages until it ends. Calls the main function directly: the code that the
 * snapshot interrupted never continues.
 */
function runProgram({python, port, sentCount, output, limits, callBytes}: RunData): void {
	const programInput: ProgramInput = new ProgramInput(port, sentCount, () => programOutput.callCount + 1);
	const programOutput = new ProgramOutput(limits, {output, callBytes}, () => programInput.isDone);
	const {memory, table, stack} = instantiate(python.module, {
		args: [],
		write: (file, piece) => programOutput.write(file, piece),
		read: space => programInput.readInto(space),
		tick: () => {},
	});
	memory.grow((python.image.byteLength - memory.buffer.byteLength + STACK_BYTES) / PAGE);
	new Uint8Array(memory.buffer).set(new Uint8Array(python.image));
	stack.value = memory.buffer.byteLength;
	const [type, main, args] = python.entry;
	const call = table.get(new DataView(memory.buffer).getUint32(type + CALL_SLOT, true));
	postToMain({ready: true});
	try {
		call(main, args, 0);
		postToMain({end: 'fault', detail: 'The program ended without a result.'});
	} catch (error) {
		if (error instanceof WasiExit) postToMain({end: 'exit', detail: String(error.code)});
		else postToMain({end: 'fault', detail: error instanceof Error ? error.message : String(error)});
	}
}

const data: BootData | RunData = workerData;
if (data.task === 'boot') postToMain({python: createSnapshot(data)});
else runProgram(data);
waitForTermination();
