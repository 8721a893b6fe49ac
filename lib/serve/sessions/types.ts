/** `stale`: the process exited. `interrupted`: ended without a proper close. All but `active` can resume. */
export const sessionStatuses = ['active', 'stale', 'closed', 'interrupted'] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

export const sessionStates = ['busy', 'idle', 'closed'] as const;
export type SessionState = (typeof sessionStates)[number];

/** A Codex session, as stored in the registry and returned by tools. */
export type SessionEntry = {
	/** `codex:<uuid>`: the id for clients. It never changes. */
	readonly codex_id: string;
	/** Codex's id. Null until the thread has started. */
	readonly thread_id: string | null;
	/** Threads that were replaced when the session was resumed. */
	readonly previous_thread_ids: readonly string[];
	readonly identity: string;
	readonly team: string;
	readonly repo_root: string | null;
	readonly repo_name: string | null;
	readonly branch: string | null;
	readonly cwd: string;
	/** Times are in ISO 8601 with milliseconds, in UTC. */
	readonly started_at: string;
	readonly last_active: string;
	readonly status: SessionStatus;
	readonly state: SessionState;
	readonly tag: string | null;
	readonly role: string | null;
	/** Whether a call set the role, as opposed to the configuration. */
	readonly role_named?: boolean;
	readonly turns: number;
	/** The last text of the agent, truncated to 200 code points. */
	readonly last_text: string | null;
	/** Undefined or null: as configured. */
	readonly auto_mail?: boolean | null;
};

export type IdentityOwner = {readonly codexId: string; readonly pid: number; readonly startedAt: string};

export type IdentityReservation =
	| {readonly isReserved: true}
	| {readonly isReserved: false; readonly owner: IdentityOwner};

/** The state of the registry file, for status tools. */
export type RegistryHealth = {
	/** `degraded`: the last save failed; the next change retries it. `off`: persistence is disabled. */
	readonly persist: 'ok' | 'degraded' | 'off';
	readonly lastError: string | undefined;
	/** The path that a corrupt registry was moved to. */
	readonly corruptFile: string | undefined;
};

export type AuditDetails = {
	readonly [key: string]: string | number | boolean | null | readonly string[];
};

/** An entry of the audit file. Texts are truncated to 200 code points and redacted when written. */
export type AuditEntry = {
	/** `codex`, `codex-reply`, `codex_close`, `resume`, `timeout`, `refusal`, `atm_send`, … */
	readonly event: string;
	/** Shared by all entries of one call. */
	readonly correlationId: string;
	readonly codexId?: string | undefined;
	readonly threadId?: string | undefined;
	readonly identity?: string | undefined;
	readonly team?: string | undefined;
	readonly recipient?: string | undefined;
	/** `started`, `completed`, `failed`, `refused`, … */
	readonly outcome?: string | undefined;
	readonly prompt?: string | undefined;
	readonly message?: string | undefined;
	/** Further facts: numbers, codes, reasons, ids. */
	readonly details?: AuditDetails | undefined;
};
