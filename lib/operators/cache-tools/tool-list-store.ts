import type {ToolList} from '../../protocol/tool-list.js';

/** A store that replicas share their tool lists through. */
export type ToolListStore = {
	read(): Promise<ToolList | undefined>;
	/** Stores a list and notifies the other replicas. */
	write(list: ToolList): void;
	/** Calls back with the fingerprint of another replica's list, or '' if an update may have been missed. */
	onUpdate(listener: (fingerprint: string) => void): void;
};
