import {fstatSync, readSync} from 'node:fs';

/** Files of a log that are open, one after the other as if they were one. Only the last may grow. */
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

	/** From now on there is nothing to read: the files may be closed, and their numbers be those of others. */
	close(): void {
		this.#isClosed = true;
	}

	/** Where all of them end at present. */
	get end(): number {
		const last = this.#isClosed ? undefined : this.#files.at(-1);
		return last ? last.base + fstatSync(last.fd).size : 0;
	}

	/** Where the file ends that has this position in it; the last may go on. */
	fileEnd(position: number): number {
		const file = this.#fileOf(position);
		return file && file !== this.#files.at(-1) ? file.base + file.size : Number.POSITIVE_INFINITY;
	}

	/** Reads into memory, from one file. Returns how much there was, 0 at the end of all. */
	read(target: Uint8Array, at: number, length: number, position: number): number {
		const file = this.#fileOf(position);
		if (!file || length <= 0 || this.#isClosed) return 0;
		const rest = Math.min(length, this.fileEnd(position) - position);
		return readSync(file.fd, target, at, rest, position - file.base);
	}

	/** Some bytes, or as many of them as there are. */
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
