import type {Subject} from 'rxjs';
import type {MatchesCache} from './filter-matches.js';
import type {LogIndex} from './log-index.js';

/** A log that can be looked at. */
export type IndexedLog = {readonly index: LogIndex; readonly matches: MatchesCache};

/** Where a page gets what it shows. */
export type TrafficSource = {
	/** What it is called. */
	readonly name: string;
	readonly isLive: boolean;
	/** Counts up whenever it begins anew, with another log. */
	readonly generation: number;
	/** What is to be told to who looks. */
	readonly note: string;
	/** What there is to be seen at present, if anything. */
	readonly indexedLog: IndexedLog | undefined;
	readonly changed: Subject<void>;
	/** Somebody looks. Returns what is to be called when they have gone. */
	addViewer(): () => void;
	close(): Promise<void>;
};
