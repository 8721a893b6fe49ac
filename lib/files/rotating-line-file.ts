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
	/** A file that would exceed this size is renamed with a timestamp, and a new file is created. */
	readonly maxBytes: number;
	readonly maxOldFiles: number;
	readonly now: () => Date;
};

const FLAGS = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | NO_FOLLOW;
const LINE_FEED = 0x0a;

/**
 * An append-only file of lines. Several processes may write to it, since each line is one append. If the file
 * was moved or removed, it is created again.
 */
export class RotatingLineFile {
	readonly #options: RotatingLineFileOptions;
	#fd: number | undefined;
	#hasPartialLine = false;

	constructor(options: RotatingLineFileOptions) {
		this.#options = options;
	}

	/**
	 * Writes one line, including its line feed. Throws if the system does not accept all of it; a partial
	 * line does not count.
	 */
	append(line: string): void {
		const bytes = Buffer.from(line);
		const fd = this.#fdFor(bytes.length);
		// A partial line is terminated, and readers skip it.
		this.#write(fd, this.#hasPartialLine ? Buffer.concat([Buffer.from('\n'), bytes]) : bytes);
	}

	/** Flushes written lines to the disk. */
	sync(): Promise<void> {
		const fd = this.#fd;
		if (fd === undefined) return Promise.resolve();
		return new Promise((resolve, reject) => {
			fdatasync(fd, error => {
				// Closing the file also synced it.
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
			if (written === 0) throw new Error('no bytes were written');
			done += written;
		}
		this.#hasPartialLine = false;
	}

	/** Returns the descriptor for a write of this length. Rotates or reopens the file first if necessary. */
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

	/**
	 * Rotates the file. No line is lost: other processes append to the renamed file until their next check.
	 */
	#rotate(): void {
		const {path, maxOldFiles, now} = this.#options;
		const [folder, ending] = [dirname(path), extname(path)];
		const stem = `${basename(path, ending)}-`;
		const time = now().toISOString().replace(/[:.]/g, '-');
		let name = `${stem}${time}${ending}`;
		for (let count = 1; statSync(join(folder, name), {throwIfNoEntry: false}); count++)
			name = `${stem}${time}.${count}${ending}`;
		renameSync(path, join(folder, name));
		const old = readdirSync(folder).filter(each => each.startsWith(stem) && each.endsWith(ending));
		for (const each of old.sort().slice(0, Math.max(0, old.length - maxOldFiles)))
			unlinkSync(join(folder, each));
	}
}

function openFile(path: string): number {
	try {
		return openSync(path, FLAGS, 0o600);
	} catch (error) {
		throw openError(path, error as NodeJS.ErrnoException);
	}
}
