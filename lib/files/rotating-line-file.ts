import {
	closeSync,
	constants,
	fdatasync,
	fdatasyncSync,
	fstatSync,
	openSync,
	readdirSync,
	readSync,
	renameSync,
	statSync,
	unlinkSync,
	writeSync,
} from 'node:fs';
import {basename, dirname, extname, join} from 'node:path';
import {checkFolderOwnership, NO_FOLLOW, openError, secureOpenFile} from './secure-file.js';

type RotatingLineFileOptions = {
	readonly path: string;
	/** A file that would grow longer is put aside, under a name with the time, and a new one is begun. */
	readonly maxBytes: number;
	/** How many of those are kept. */
	readonly maxOldFiles: number;
	readonly now: () => Date;
};

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NO_FOLLOW;
const LINE_FEED = 0x0a;

/**
 * A file that only ever grows by whole lines, also when several processes write to it: each line is one write to its end.
 * It is made anew when somebody has moved or removed it.
 */
export class RotatingLineFile {
	readonly #options: RotatingLineFileOptions;
	#fd: number | undefined;
	#hasPartialLine = false;

	constructor(options: RotatingLineFileOptions) {
		this.#options = options;
	}

	/** Hands one line, line feed included, to the system. Throws where that takes not all of it: then none of it counts. */
	append(line: string): void {
		const bytes = Buffer.from(line);
		const fd = this.#fdFor(bytes.length);
		// What is left of a line that did not fit is a line of its own, which readers skip.
		this.#write(fd, this.#hasPartialLine ? Buffer.concat([Buffer.from('\n'), bytes]) : bytes);
	}

	/** Makes what was handed over safe against a power cut. */
	sync(): Promise<void> {
		const fd = this.#fd;
		if (fd === undefined) return Promise.resolve();
		return new Promise((resolve, reject) => {
			fdatasync(fd, error => {
				// A file that was closed meanwhile was synced at that.
				if (error && error.code !== 'EBADF') reject(error);
				else resolve();
			});
		});
	}

	syncNow(): void {
		if (this.#fd !== undefined) fdatasyncSync(this.#fd);
	}

	close(): void {
		const fd = this.#fd;
		if (fd === undefined) return;
		this.#fd = undefined;
		try {
			fdatasyncSync(fd);
		} finally {
			closeSync(fd);
		}
	}

	#write(fd: number, bytes: Buffer): void {
		this.#hasPartialLine = true;
		for (let done = 0; done < bytes.length; ) {
			const written = writeSync(fd, bytes, done);
			if (written === 0) throw new Error('nothing of it was written');
			done += written;
		}
		this.#hasPartialLine = false;
	}

	/** The file, with room for so many bytes. */
	#fdFor(length: number): number {
		const {path, maxBytes} = this.#options;
		const stats = statSync(path, {throwIfNoEntry: false});
		const isCurrent = stats && this.#fd !== undefined && fstatSync(this.#fd).ino === stats.ino;
		if (stats?.isFile() && stats.size > 0 && stats.size + length > maxBytes) {
			this.close();
			this.#rotate();
		} else if (isCurrent && this.#fd !== undefined) return this.#fd;
		else this.close();
		return this.#open();
	}

	#open(): number {
		const {path} = this.#options;
		checkFolderOwnership(dirname(path));
		const fd = openFile(path);
		try {
			const stats = secureOpenFile(fd, path);
			if (!stats.isFile()) throw new Error(`${path} is not a file`);
			const last = Buffer.alloc(1);
			this.#hasPartialLine =
				stats.size > 0 && readSync(fd, last, 0, 1, stats.size - 1) === 1 && last[0] !== LINE_FEED;
		} catch (error) {
			closeSync(fd);
			throw error;
		}
		this.#fd = fd;
		return fd;
	}

	/** No line is lost at that: a process that still has it open goes on at its end until it looks. */
	#rotate(): void {
		const {path, maxOldFiles: keep, now} = this.#options;
		const [folder, ending] = [dirname(path), extname(path)];
		const stem = `${basename(path, ending)}-`;
		const time = now().toISOString().replace(/[:.]/g, '-');
		let name = `${stem}${time}${ending}`;
		for (let count = 1; statSync(join(folder, name), {throwIfNoEntry: false}); count++)
			name = `${stem}${time}.${count}${ending}`;
		renameSync(path, join(folder, name));
		const old = readdirSync(folder).filter(each => each.startsWith(stem) && each.endsWith(ending));
		for (const each of old.sort().slice(0, Math.max(0, old.length - keep))) unlinkSync(join(folder, each));
	}
}

function openFile(path: string): number {
	try {
		return openSync(path, FLAGS, 0o600);
	} catch (error) {
		throw openError(path, error as NodeJS.ErrnoException);
	}
}
