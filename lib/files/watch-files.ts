import {type FSWatcher, watch} from 'node:fs';

type WatchFilesOptions = {
	/** What tells one state of the thing from another. */
	readonly readStamp: () => Promise<string>;
	/** The state that is known already. */
	readonly initialStamp: string;
	/** The folder that the system is asked to tell of, as most editors replace files rather than write to them. */
	readonly folder: string;
	/** Whether a change of this name in the folder may matter. */
	readonly isRelevant?: (name: string) => boolean;
	/** It is another, and has been so for a while. Gives the state that is known from then on. */
	readonly onChange: (stamp: string) => Promise<string>;
	/** How often it is looked at, since the system does not tell of every change. */
	readonly pollMs?: number;
	/** How long it has to stay as it is: whoever writes it may not be done. */
	readonly settleMs?: number;
};

/** Tells of changes of files once nobody writes to them any more, until it is closed. */
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

/** What the system tells of a folder. Where that cannot be had, it is only looked at from time to time. */
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
