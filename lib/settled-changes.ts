import {type FSWatcher, watch} from 'node:fs';

export type SettledChangesOptions = {
	/** What tells one state of the thing from another. */
	readonly stamp: () => Promise<string>;
	/** The state that is known already. */
	readonly known: string;
	/** The folder that the system is asked to tell of, as most editors replace files rather than write to them. */
	readonly folder: string;
	/** Whether a change of this name in the folder may matter. */
	readonly concerns?: (name: string) => boolean;
	/** It is another, and has been so for a while. Gives the state that is known from then on. */
	readonly onChange: (stamp: string) => Promise<string>;
	/** How often it is looked at, since the system does not tell of every change. */
	readonly pollMs?: number;
	/** How long it has to stay as it is: whoever writes it may not be done. */
	readonly settleMs?: number;
};

/** Tells of changes of files once nobody writes to them any more, until it is closed. */
export function settledChanges(options: SettledChangesOptions): {close(): void} {
	const {stamp: stampNow, onChange, pollMs = 2000, settleMs = 100} = options;
	let {known} = options;
	let isClosed = false;
	let isLooking = false;
	let settling: NodeJS.Timeout | undefined;

	const look = async (before?: string): Promise<void> => {
		if (isClosed) return;
		if (isLooking) return lookLater();
		isLooking = true;
		try {
			const stamp = await stampNow();
			if (isClosed || stamp === known) return;
			if (stamp !== before) return lookLater(stamp);
			known = stamp;
			known = await onChange(stamp);
		} finally {
			isLooking = false;
		}
	};
	const lookLater = (stamp?: string): void => {
		clearTimeout(settling);
		settling = setTimeout(() => void look(stamp), settleMs).unref();
	};

	const hints = hintsOf(options, () => lookLater());
	const poll = setInterval(() => void look(), pollMs).unref();
	return {
		close() {
			isClosed = true;
			clearTimeout(settling);
			clearInterval(poll);
			hints?.close();
		},
	};
}

/** What the system tells of a folder. Where that cannot be had, it is only looked at from time to time. */
function hintsOf(
	{folder, concerns = () => true}: SettledChangesOptions,
	onHint: () => void,
): FSWatcher | undefined {
	try {
		const watcher = watch(folder, {persistent: false}, (_, name) => {
			if (name === null || concerns(name)) onHint();
		});
		watcher.on('error', () => watcher.close());
		return watcher;
	} catch {
		return;
	}
}
