import type {Subject} from 'rxjs';
import type {MatchesCache} from './filter-matches.js';
import type {LogIndex} from './log-index.js';

/** An indexed log with the matches of its filters. */
export type IndexedLog = {readonly index: LogIndex; readonly matches: MatchesCache};

/** The source of the traffic on a page. */
export type TrafficSource = {
	/** The displayed name. */
	readonly name: string;
	readonly isLive: boolean;
	/** Incremented when the log is replaced by a new one. */
	readonly generation: number;
	/** A note for viewers of the page. */
	readonly note: string;
	/** The current log, if any. */
	readonly indexedLog: IndexedLog | undefined;
	readonly changed: Subject<void>;
	/** Registers a viewer. Returns a function that removes it. */
	addViewer(): () => void;
	close(): Promise<void>;
};
