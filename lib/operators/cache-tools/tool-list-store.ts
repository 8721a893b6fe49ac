import type {ToolList} from '../../protocol/tool-list.js';

/** Where a list is kept for others, who keep theirs there. */
export type ToolListStore = {
	read(): Promise<ToolList | undefined>;
	/** Puts a list there, and tells the others. */
	write(list: ToolList): void;
	/** Is told the fingerprint of a list that somebody else has put there, or nothing if that may have been missed. */
	onUpdate(hear: (fingerprint: string) => void): void;
};
