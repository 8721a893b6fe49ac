import {closeSync, openSync, statSync} from 'node:fs';
import type {Subject} from 'rxjs';
import {BridgeError} from '../errors.js';
import {logFiles} from '../store/log-files.js';
import {LogIndex} from './log-index.js';
import {AllMatches} from './matches.js';
import type {Shown, Source} from './source.js';

/** How often it is looked whether the log has grown. */
const LOOK_EVERY_MS = 500;

export type FileSourceOptions = {
	/** Files of the log, or folders with such files. */
	readonly names: readonly string[];
	readonly worker?: URL | undefined;
	readonly onBug: (error: Error) => void;
};

/** A log on disk. What is appended to its last file is shown, too. */
export class FileSource implements Source {
	readonly name: string;
	readonly isLive = false;
	readonly generation = 1;
	readonly note = '';
	readonly shown: Shown;
	readonly changed: Subject<void>;
	readonly #fds: readonly number[];
	readonly #timer: NodeJS.Timeout;

	constructor({names, worker, onBug}: FileSourceOptions) {
		const files = logFiles(names);
		if (files.some(({isPipe}) => isPipe)) throw readOnce();
		if (files.length === 0) throw empty(names);
		const strange = files.filter(({path, time}) => time === '' && statSync(path).size > 0);
		const named = strange.find(({path}) => names.includes(path));
		if (named || strange.length === files.length) throw notLog(named?.path ?? names.join(', '));
		this.name = names.join(', ');
		this.#fds = files.map(({path}) => openSync(path, 'r'));
		const index = new LogIndex({fds: this.#fds, worker, onBug});
		this.shown = {index, matches: new AllMatches(index)};
		this.changed = index.changed;
		this.#timer = setInterval(() => {
			const {isAtEnd, readBytes} = index.progress;
			if (isAtEnd && index.bytes.end > readBytes) index.grown();
		}, LOOK_EVERY_MS).unref();
	}

	watch(): () => void {
		return () => {};
	}

	async close(): Promise<void> {
		clearInterval(this.#timer);
		await this.shown.index.close();
		for (const fd of this.#fds) closeSync(fd);
	}
}

const readOnce = (): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		'What comes through a pipe is read once, and a page asks again.',
		'Write it to a file, and name that.',
	);

const empty = (names: readonly string[]): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`There is no file in ${names.join(', ')}.`,
		'Name a log, or its folder.',
	);

const notLog = (path: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${path} is not a traffic log: it does not begin with lines that have a time.`,
		'Name a file that --log or bridge raw has written.',
	);
