/** Settings that a role can preset. */
export type RolePreset = {
	readonly model: string | undefined;
	readonly sandbox: string | undefined;
	readonly approvalPolicy: string | undefined;
	readonly reasoningEffort: string | undefined;
};

/**
 * The resolved settings of `bridge serve` and related commands. Undefined values are not sent to Codex. The
 * members of `RolePreset` apply to calls without a role.
 */
export type ServeConfig = RolePreset & {
	/** The folder that contains `.config/atm` and `.claude`. */
	readonly base: string;
	/** The folder of Claude Code, which contains the teams and their inboxes. */
	readonly claude: string;
	readonly team: string;
	/** Whether a flag, a variable or a file sets the team. */
	readonly isTeamNamed: boolean;
	/** The identity of the user or the lead. Never the identity of a Codex session. */
	readonly coreIdentity: string;
	readonly aliases: ReadonlyMap<string, string>;
	/** Aliases of an untrusted file. A member with the same name takes precedence. */
	readonly weakAliases: ReadonlySet<string>;
	readonly codexBin: string;
	/** The identity of sessions that are started without one. */
	readonly identity: string;
	readonly fastModel: string | undefined;
	/** The role of calls without one. */
	readonly role: string | undefined;
	readonly roles: ReadonlyMap<string, RolePreset>;
	/** The settings of a call that names a role, by role. */
	readonly namedRoles: ReadonlyMap<string, RolePreset>;
	/** The settings of a resumed session whose call does not name its role, by role. */
	readonly resumedRoles: ReadonlyMap<string, RolePreset>;
	readonly mailPollIntervalMs: number;
	/** 0 for no limit. */
	readonly requestTimeoutSecs: number;
	readonly maxConcurrentThreads: number;
	readonly persistThreads: boolean;
	readonly autoMail: boolean;
	/** By identity. */
	readonly perThreadAutoMail: ReadonlyMap<string, boolean>;
	readonly maxMailMessages: number;
	/** In code points. */
	readonly maxMailMessageLength: number;
	/** Limit on consecutive mail turns, until a turn of the client or `mailQuietSecs` without mail. */
	readonly maxMailTurns: number;
	readonly mailQuietSecs: number;
	/** The port of the metrics endpoint. 0 selects a free port. */
	readonly metricsPort: number | undefined;
	/** Absolute paths. */
	readonly basePromptFile: string | undefined;
	readonly extraInstructionsFile: string | undefined;
	/** The interface of Codex to use. */
	readonly transport: 'auto' | 'mcp' | 'app-server';
	/** How the text of an agent file is used. */
	readonly agentFileAs: 'prompt' | 'base-instructions';
	/** Whether the prompt of a reply mentions a changed branch or folder. */
	readonly contextOnReply: boolean;
	/** Limit on turns that are queued for a busy session. */
	readonly maxQueuedTurns: number;
	readonly inboxFormat: 'auto' | 'native' | 'legacy';
	/** Whether sessions get their own mail tools: `bridge atm-tools`. */
	readonly atmTools: boolean;
	/** Folders with trusted configuration files: see lib/serve/config/repository-trust.ts. */
	readonly trustedDirectories: readonly string[];
	/** When the audit log is synced to disk: every second, or after each entry. */
	readonly auditFsync: 'second' | 'always';
};

export type ServeFlags = {
	readonly config?: string | undefined;
	readonly team?: string | undefined;
	readonly identity?: string | undefined;
	readonly role?: string | undefined;
	readonly model?: string | undefined;
	/** Whether to use `fast_model` as the model. */
	readonly isFast?: boolean | undefined;
	readonly sandbox?: string | undefined;
	readonly approvalPolicy?: string | undefined;
	readonly timeoutSecs?: number | undefined;
	/** Whether the repository's file is trusted with all keys. */
	readonly isTrusted?: boolean | undefined;
};

export type LoadServeConfigOptions = {
	readonly flags: ServeFlags;
	readonly env: NodeJS.ProcessEnv;
	readonly cwd: string;
};

export type LoadedServeConfig = {
	readonly config: ServeConfig;
	/**
	 * The origin of each value, by its name in `ServeConfig`. Roles and maps use `roles.NAME.model`,
	 * `aliases.NAME`.
	 */
	readonly origins: ReadonlyMap<string, string>;
	/** Sentences that name the file and the key. */
	readonly warnings: readonly string[];
	/** The files that were read, in order of precedence. */
	readonly files: readonly string[];
};
