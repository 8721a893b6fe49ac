import type {Log} from '../log.js';
import type {AuditEntry} from './types.js';

export type AuditOptions = {
	/** Where `audit.jsonl` is: see `auditFolder` in lib/atm/paths.ts. */
	readonly folder: string;
	readonly log: Log;
	/** `always` syncs each line; else each second and at the end. */
	readonly fsync?: 'second' | 'always';
	readonly now?: () => Date;
};

/** The file of what was done for whom: one line a thing, never blocking what it tells of. */
export type Audit = {
	/** The line is with the system when this returns. A failure is logged and counted, and never thrown. */
	write(entry: AuditEntry): void;
	close(): Promise<void>;
};
