import {type WasmImports, type WasmMemory, type WasmModule, webAssembly} from './web-assembly.js';

/** Everything that the interpreter can access: its arguments, three files and the time. */
export type WasiHost = {
	readonly args: readonly string[];
	/** Receives the data written to file 1 or 2. */
	write(file: number, bytes: Uint8Array): void;
	/** Reads from file 0 into the space and returns the number of bytes. */
	read(space: Uint8Array): number;
	/** Called whenever the interpreter reads the clock. */
	tick(): void;
};

/** Thrown when the interpreter exits. */
export class WasiExit extends Error {
	readonly code: number;

	constructor(code: number) {
		super(`The interpreter exited with code ${code}.`);
		this.code = code;
	}
}

const errno = {success: 0, badf: 8, inval: 28, nosys: 52, spipe: 70} as const;
const FILES = 3;
const CHARACTER_DEVICE = 2;
const READ_AND_WRITE = 0x42n;
const MS = 1_000_000n;
const CLOCK_EVENT = 0;

/**
 * The system calls of `wasi_snapshot_preview1`. All others return an error: there are no directories, no
 * environment and no sockets. The interpreter gets and returns only numbers.
 */
export function wasiImports(module: WasmModule, memory: () => WasmMemory, host: WasiHost): WasmImports {
	const view = (): DataView => new DataView(memory().buffer);
	const bytes = (at: number, length: number): Uint8Array => new Uint8Array(memory().buffer, at, length);
	const calls: WasmImports = Object.fromEntries(
		webAssembly.Module.imports(module).map(({name}) => [name, () => errno.nosys]),
	);
	return {
		...calls,
		...argumentCalls(host.args, view, bytes),
		...fileCalls(host, view, bytes),
		...timeCalls(host, view),
		random_get: (at = 0, length = 0) => {
			for (let done = 0; done < length; done += 65_536) {
				crypto.getRandomValues(bytes(at + done, Math.min(65_536, length - done)));
			}
			return errno.success;
		},
		proc_exit: (code = 0) => {
			throw new WasiExit(code);
		},
		sched_yield: () => errno.success,
	};
}

type View = () => DataView;
type Bytes = (at: number, length: number) => Uint8Array;

function argumentCalls(args: readonly string[], view: View, bytes: Bytes): WasmImports {
	const texts = args.map(text => Buffer.from(`${text}\0`));
	const sizes =
		(list: readonly Uint8Array[]) =>
		(countAt = 0, lengthAt = 0) => {
			view().setUint32(countAt, list.length, true);
			view().setUint32(lengthAt, Buffer.concat(list).length, true);
			return errno.success;
		};
	return {
		args_sizes_get: sizes(texts),
		args_get: (pointersAt = 0, textsAt = 0) => {
			let at = textsAt;
			for (const [index, text] of texts.entries()) {
				view().setUint32(pointersAt + 4 * index, at, true);
				bytes(at, text.length).set(text);
				at += text.length;
			}
			return errno.success;
		},
		environ_sizes_get: sizes([]),
		environ_get: () => errno.success,
	};
}

function fileCalls({write, read}: WasiHost, view: View, bytes: Bytes): WasmImports {
	/** The memory ranges that one call reads into or writes from. */
	const memoryPieces = (at: number, count: number): Uint8Array[] =>
		Array.from({length: count}, (_, index) => {
			const [start, length] = [
				view().getUint32(at + 8 * index, true),
				view().getUint32(at + 8 * index + 4, true),
			];
			return bytes(start, length);
		});
	return {
		fd_write: (file = 0, at = 0, count = 0, writtenAt = 0) => {
			if (file !== 1 && file !== 2) return errno.badf;
			const all = memoryPieces(at, count);
			for (const piece of all) write(file, piece);
			view().setUint32(
				writtenAt,
				all.reduce((sum, {length}) => sum + length, 0),
				true,
			);
			return errno.success;
		},
		fd_read: (file = 0, at = 0, count = 0, readAt = 0) => {
			if (file !== 0) return errno.badf;
			const [space] = memoryPieces(at, Math.min(count, 1));
			view().setUint32(readAt, space ? read(space) : 0, true);
			return errno.success;
		},
		fd_fdstat_get: (file = 0, at = 0) => {
			if (file >= FILES) return errno.badf;
			bytes(at, 24).fill(0);
			view().setUint8(at, CHARACTER_DEVICE);
			view().setBigUint64(at + 8, READ_AND_WRITE, true);
			return errno.success;
		},
		fd_filestat_get: (file = 0, at = 0) => {
			if (file >= FILES) return errno.badf;
			bytes(at, 64).fill(0);
			view().setUint8(at + 16, CHARACTER_DEVICE);
			return errno.success;
		},
		fd_close: () => errno.success,
		fd_seek: () => errno.spipe,
		fd_tell: () => errno.spipe,
		fd_prestat_get: () => errno.badf,
		fd_prestat_dir_name: () => errno.badf,
	};
}

/** Clocks have a resolution of 1 ms. A finer one would allow timing attacks on other programs. */
function timeCalls({tick}: WasiHost, view: View): WasmImports {
	const now = (clock: number): bigint =>
		clock === 0 ? BigInt(Date.now()) * MS : BigInt(Math.trunc(performance.now())) * MS;
	const pause = new Int32Array(new SharedArrayBuffer(4));
	return {
		clock_res_get: (_clock = 0, at = 0) => {
			view().setBigUint64(at, MS, true);
			return errno.success;
		},
		// The second argument is the requested precision, a 64-bit number, and is unused.
		clock_time_get: (clock = 0, _precision = 0, at = 0) => {
			tick();
			view().setBigUint64(at, now(clock), true);
			return errno.success;
		},
		/** Waits for the first timer. There are no other events. */
		poll_oneoff: (from = 0, to = 0, count = 0, countAt = 0) => {
			for (let index = 0; index < count; index++) {
				const at = from + 48 * index;
				if (view().getUint8(at + 8) !== CLOCK_EVENT) continue;
				const [time, flags] = [view().getBigUint64(at + 24, true), view().getUint16(at + 40, true)];
				const rest = flags & 1 ? time - now(view().getUint32(at + 16, true)) : time;
				if (rest > 0n) Atomics.wait(pause, 0, 0, Number(rest / MS) + 1);
				view().setBigUint64(to, view().getBigUint64(at, true), true);
				view().setBigUint64(to + 8, 0n, true);
				view().setUint32(countAt, 1, true);
				return errno.success;
			}
			return errno.inval;
		},
	};
}
