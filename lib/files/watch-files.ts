import {type FSWatcher, watch} from 'node:fs';

type WatchFilesOptions = {
	/** Returns a text that differs between states of the files. */
	readonly readStamp: () => Promise<string>;
	readonly initialStamp: string;
	/** The folder to watch. Watching a single file is not enough, because most editors replace files. */
	readonly folder: string;
	readonly isRelevant?: (name: string) => boolean;
	/**
	 * Called with a new stamp that was stable for `settleMs`. Returns the stamp to compare with from then on.
	 */
	readonly onChange: (stamp: string) => Promise<string>;
	/** The polling interval, since file system events are not reliable. */
	readonly pollMs?: number;
	/** How long the stamp must stay the same, since a writer may not have finished. */
	readonly settleMs?: number;
};

/** Reports changes of files once they are stable, until it is closed. */
export function watchFiles(options: WatchFilesOptions): {close(): void} {
	const {readStamp, onChange, pollMs = 2000, settleMs = 100} = options;
	let {initialStamp: lastStamp} = options;
	let isClosed = false;
	let isChecking = false;
	let settleTimer: NodeJS.Timeout | undefined;

	const check = async (previousStamp?: string): Promise<void> => {
		if (isClosed) return;
		if (isChecking) return checkLater();
		isChecking = true;
		try {
			const stamp = await readStamp();
			if (isClosed || stamp === lastStamp) return;
			if (stamp !== previousStamp) return checkLater(stamp);
			lastStamp = stamp;
			lastStamp = await onChange(stamp);
		} finally {
			isChecking = false;
		}
	};
	const checkLater = (stamp?: string): void => {
		clearTimeout(settleTimer);
		settleTimer = setTimeout(() => void check(stamp), settleMs).unref();
	};

	const watcher = watchFolder(options, () => checkLater());
	const poll = setInterval(() => void check(), pollMs).unref();
	return {
		close() {
			isClosed = true;
			clearTimeout(settleTimer);
			clearInterval(poll);
			watcher?.close();
		},
	};
}

/**
 * Watches a folder with file system events. Returns undefined if they are not available; polling still works.
 */
function watchFolder(
	{folder, isRelevant = () => true}: WatchFilesOptions,
	onEvent: () => void,
): FSWatcher | undefined {
	try {
		const watcher = watch(folder, {persistent: false}, (_, name) => {
			if (name === null || isRelevant(name)) onEvent();
		});
		watcher.on('error', () => watcher.close());
		return watcher;
	} catch {
		return;
	}
}
