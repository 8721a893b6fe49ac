import type {Subject} from 'rxjs';
import type {LogIndex} from './log-index.js';
import type {AllMatches} from './matches.js';

/** A log that can be looked at. */
export type Shown = {readonly index: LogIndex; readonly matches: AllMatches};

/** Where a page gets what it shows. */
export type Source = {
	/** What it is called. */
	readonly name: string;
	readonly isLive: boolean;
	/** Counts up whenever it begins anew, with another log. */
	readonly generation: number;
	/** What is to be told to who looks. */
	readonly note: string;
	/** What there is to be seen at present, if anything. */
	readonly shown: Shown | undefined;
	readonly changed: Subject<void>;
	/** Somebody looks. Returns what is to be called when they have gone. */
	watch(): () => void;
	close(): Promise<void>;
};
