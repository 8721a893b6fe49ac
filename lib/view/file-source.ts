import {closeSync, openSync, statSync} from 'node:fs';
import type {Subject} from 'rxjs';
import {BridgeError} from '../core/errors.js';
import {listLogFiles} from '../traffic-log/log-files.js';
import {MatchesCache} from './filter-matches.js';
import {LogIndex} from './log-index.js';
import type {IndexedLog, TrafficSource} from './traffic-source.js';

/** Interval of the check whether the log has grown. */
const POLL_INTERVAL_MS = 500;

type FileSourceOptions = {
	/** Log files, or folders with log files. */
	readonly names: readonly string[];
	readonly worker?: URL | undefined;
	readonly onBug: (error: Error) => void;
};

/** A log on disk. Lines appended to its last file are shown as well. */
export class FileSource implements TrafficSource {
	readonly name: string;
	readonly isLive = false;
	readonly generation = 1;
	readonly note = '';
	readonly indexedLog: IndexedLog;
	readonly changed: Subject<void>;
	readonly #fds: readonly number[];
	readonly #timer: NodeJS.Timeout;

	constructor({names, worker, onBug}: FileSourceOptions) {
		const files = listLogFiles(names);
		if (files.some(({isPipe}) => isPipe)) throw pipeRejected();
		if (files.length === 0) throw noFiles(names);
		const untimed = files.filter(({path, time}) => time === '' && statSync(path).size > 0);
		const untimedByName = untimed.find(({path}) => names.includes(path));
		if (untimedByName || untimed.length === files.length)
			throw notATrafficLog(untimedByName?.path ?? names.join(', '));
		this.name = names.join(', ');
		this.#fds = files.map(({path}) => openSync(path, 'r'));
		const index = new LogIndex({fds: this.#fds, worker, onBug});
		this.indexedLog = {index, matches: new MatchesCache(index)};
		this.changed = index.changed;
		this.#timer = setInterval(() => {
			const {isAtEnd, readBytes} = index.progress;
			if (isAtEnd && index.bytes.end > readBytes) index.notifyGrown();
		}, POLL_INTERVAL_MS).unref();
	}

	addViewer(): () => void {
		return () => {};
	}

	async close(): Promise<void> {
		clearInterval(this.#timer);
		await this.indexedLog.index.close();
		for (const fd of this.#fds) closeSync(fd);
	}
}

const pipeRejected = (): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		'A pipe can be read only once, but bridge view reads the log repeatedly.',
		'Write the log to a file and pass its name.',
	);

const noFiles = (names: readonly string[]): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`There is no log file in ${names.join(', ')}.`,
		'Pass a log file or its folder.',
	);

const notATrafficLog = (path: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${path} is not a traffic log: its first lines have no time.`,
		'Pass a file written by --log or bridge raw.',
	);
