/** Whether a session can be used: by the process that has it, after a resume, not any more, or cut off in mid-turn. */
export const sessionStatuses = ['active', 'stale', 'closed', 'interrupted'] as const;
export type SessionStatus = (typeof sessionStatuses)[number];

/** Whether a turn is running. */
export const sessionStates = ['busy', 'idle', 'closed'] as const;
export type SessionState = (typeof sessionStates)[number];

/** One Codex session, as the registry has it in its file and as tools and tables show it. */
export type SessionEntry = {
	/** `codex:<uuid>`: what clients know it by, for good. */
	readonly codex_id: string;
	/** What Codex knows it by, once it is known. */
	readonly thread_id: string | null;
	/** What Codex knew it by before it was resumed under a new one. */
	readonly previous_thread_ids: readonly string[];
	readonly identity: string;
	readonly team: string;
	readonly repo_root: string | null;
	readonly repo_name: string | null;
	readonly branch: string | null;
	readonly cwd: string;
	/** Times are ISO 8601 with milliseconds, in UTC. */
	readonly started_at: string;
	readonly last_active: string;
	readonly status: SessionStatus;
	readonly state: SessionState;
	readonly tag: string | null;
	readonly role: string | null;
	/** Whether the call that started it named the role. */
	readonly role_named?: boolean;
	readonly turns: number;
	/** The last text of the agent, cut to 200 code points. */
	readonly last_text: string | null;
	/** Without it, or with null, as configured. */
	readonly auto_mail?: boolean | null;
};

/** Who has an identity at present. */
export type IdentityOwner = {readonly codexId: string; readonly pid: number; readonly startedAt: string};

/** What became of the wish to have an identity. */
export type IdentityReservation =
	| {readonly isHeld: true}
	| {readonly isHeld: false; readonly holder: IdentityOwner};

/** How the registry's file is doing, for status tools. */
export type RegistryHealth = {
	/** `degraded`: the last save failed and is tried again with the next change; `off`: nothing is kept on disk. */
	readonly persist: 'ok' | 'degraded' | 'off';
	/** Why the last save failed. */
	readonly lastError: string | undefined;
	/** Where an unreadable registry was put aside at the start. */
	readonly corruptFile: string | undefined;
};

export type AuditDetails = {
	readonly [key: string]: string | number | boolean | null | readonly string[];
};

/** One thing that was done, for the audit file. Texts are cut to 200 code points and freed of secrets there. */
export type AuditEntry = {
	/** `codex`, `codex-reply`, `codex_close`, `resume`, `timeout`, `refusal`, `atm_send`, … */
	readonly event: string;
	/** The same in all entries that belong to one call. */
	readonly correlationId: string;
	readonly codexId?: string | undefined;
	readonly threadId?: string | undefined;
	readonly identity?: string | undefined;
	readonly team?: string | undefined;
	readonly recipient?: string | undefined;
	/** How it went: `started`, `completed`, `failed`, `refused`, … */
	readonly outcome?: string | undefined;
	readonly prompt?: string | undefined;
	readonly message?: string | undefined;
	/** Further facts: numbers, codes, reasons, ids. */
	readonly details?: AuditDetails | undefined;
};
