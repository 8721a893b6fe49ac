import {fstatSync, readSync} from 'node:fs';

/** The open files of a log as one range of bytes. Only the last file may grow. */
export class LogBytes {
	readonly #files: ReadonlyArray<{readonly fd: number; readonly base: number; readonly size: number}>;

	#isClosed = false;

	constructor(fds: readonly number[]) {
		let base = 0;
		this.#files = fds.map(fd => {
			const {size} = fstatSync(fd);
			const file = {fd, base, size};
			base += size;
			return file;
		});
	}

	/** Prevents further reads, since the file descriptors may be closed and reused. */
	close(): void {
		this.#isClosed = true;
	}

	/** The current end of all files. */
	get end(): number {
		const last = this.#isClosed ? undefined : this.#files.at(-1);
		return last ? last.base + fstatSync(last.fd).size : 0;
	}

	/** The end of the file that contains a position. Infinity for the last file, which may grow. */
	fileEnd(position: number): number {
		const file = this.#fileOf(position);
		return file && file !== this.#files.at(-1) ? file.base + file.size : Number.POSITIVE_INFINITY;
	}

	/** Reads from one file. Returns the number of bytes, or 0 at the end. */
	read(target: Uint8Array, at: number, length: number, position: number): number {
		const file = this.#fileOf(position);
		if (!file || length <= 0 || this.#isClosed) return 0;
		const rest = Math.min(length, this.fileEnd(position) - position);
		return readSync(file.fd, target, at, rest, position - file.base);
	}

	/** Reads up to `length` bytes. */
	slice(position: number, length: number): Buffer {
		const bytes = Buffer.allocUnsafe(length);
		let at = 0;
		while (at < length) {
			const bytesRead = this.read(bytes, at, length - at, position + at);
			if (bytesRead === 0) break;
			at += bytesRead;
		}
		return bytes.subarray(0, at);
	}

	#fileOf(position: number) {
		return this.#files.findLast(({base}) => base <= position);
	}
}
