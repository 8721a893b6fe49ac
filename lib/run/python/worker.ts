import {readFileSync} from 'node:fs';
import {workerData} from 'node:worker_threads';
import type {BootData, Python, RunData} from './messages.js';
import {patch, type Segment, STACK_POINTER, TABLE} from './module.js';
import {prelude} from './prelude.js';
import {Hearing, post, Speech, waitForTermination} from './speech.js';
import {Exit, systemCalls, type World} from './wasi.js';
import {type Global, type Memory, type Module, type Table, webAssembly} from './web-assembly.js';

const PAGE = 65_536;
/**
 * What functions of C may use for their variables, at the end of the memory. The build has half a megabyte for that, which is
 * not enough for the depth that Python itself allows, and less than it takes for it to notice.
 */
const STACK_BYTES = 128 * PAGE;
/** Where a type keeps the function that calls its objects: after sixteen words. */
const CALL_SLOT = 64;

/** Thrown through the interpreter at the moment of which a copy is wanted. */
class Ready extends Error {}

function instantiate(module: Module, world: World) {
	const instance = new webAssembly.Instance(module, {
		wasi_snapshot_preview1: systemCalls(module, () => memory, world),
	});
	const {memory: exported, [TABLE]: table, [STACK_POINTER]: stack, _start: start} = instance.exports;
	const memory = exported as Memory;
	return {memory, table: table as Table, stack: stack as Global, start: start as () => void};
}

/** Starts Python, has it read the prelude, and copies its memory when that is done. */
function boot({path, maxMemoryBytes}: BootData): Python {
	const {bytes, segments} = patch(readFileSync(path), maxMemoryBytes);
	const module = new webAssembly.Module(bytes);
	let said = '';
	const {memory, start} = instantiate(module, {
		args: ['python', '-I', '-S', '-B', '-W', 'ignore', '-X', 'utf8', '-c', prelude],
		write: (_file, piece) => {
			said += Buffer.from(piece).toString();
		},
		read: () => 0,
		tick: () => {
			if (said.includes('\n')) throw new Ready();
		},
	});
	fill(memory, segments);
	try {
		start();
	} catch (error) {
		if (!(error instanceof Ready)) throw new Error(`Python did not start: ${said || error}`);
	}
	const image = new SharedArrayBuffer(memory.buffer.byteLength);
	new Uint8Array(image).set(new Uint8Array(memory.buffer));
	return {module, image, entry: JSON.parse(said).ready};
}

function fill(memory: Memory, segments: readonly Segment[]): void {
	const bytes = new Uint8Array(memory.buffer);
	for (const [offset, data] of segments) bytes.set(data, offset);
}

/** Says what the program does until it ends. The function that is called never comes back from where the copy was made. */
function run({python, port, heard, output, limits, callBytes}: RunData): void {
	const hearing: Hearing = new Hearing(port, heard, () => speech.calls + 1);
	const speech = new Speech(limits, {output, callBytes}, () => hearing.isDone);
	const {memory, table, stack} = instantiate(python.module, {
		args: [],
		write: (file, piece) => speech.take(file, piece),
		read: space => hearing.into(space),
		tick: () => {},
	});
	memory.grow((python.image.byteLength - memory.buffer.byteLength + STACK_BYTES) / PAGE);
	new Uint8Array(memory.buffer).set(new Uint8Array(python.image));
	stack.value = memory.buffer.byteLength;
	const [type, main, args] = python.entry;
	const call = table.get(new DataView(memory.buffer).getUint32(type + CALL_SLOT, true));
	post({ready: true});
	try {
		call(main, args, 0);
		post({end: 'fault', detail: 'The program ended without a word.'});
	} catch (error) {
		if (error instanceof Exit) post({end: 'exit', detail: String(error.code)});
		else post({end: 'fault', detail: error instanceof Error ? error.message : String(error)});
	}
}

const data: BootData | RunData = workerData;
if (data.task === 'boot') post({python: boot(data)});
else run(data);
waitForTermination();
