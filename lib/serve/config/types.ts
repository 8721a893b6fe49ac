/** Settings that a call's role presets. */
export type RolePreset = {
	readonly model: string | undefined;
	readonly sandbox: string | undefined;
	readonly approvalPolicy: string | undefined;
	readonly reasoningEffort: string | undefined;
};

/**
 * The settings of `bridge serve` and its companions, all resolved; undefined values are not sent to Codex. The settings
 * of `Role` are those of a call that names no role.
 */
export type ServeConfig = RolePreset & {
	/** The folder that `.config/atm` and `.claude` are in. */
	readonly base: string;
	/** Claude Code's folder, which has the teams and their inboxes. */
	readonly claude: string;
	readonly team: string;
	/** Whether a flag, a variable or a file names the team. */
	readonly isTeamNamed: boolean;
	/** Who the person or the lead is. It is never the identity of a Codex session. */
	readonly coreIdentity: string;
	readonly aliases: ReadonlyMap<string, string>;
	/** Aliases of an untrusted file: a member of that name goes before them. */
	readonly weakAliases: ReadonlySet<string>;
	readonly codexBin: string;
	/** The identity of sessions whose call names none. */
	readonly identity: string;
	readonly fastModel: string | undefined;
	/** The role of calls that name none. */
	readonly role: string | undefined;
	readonly roles: ReadonlyMap<string, RolePreset>;
	/** By role, the settings of a call that names it. */
	readonly namedRoles: ReadonlyMap<string, RolePreset>;
	/** By role, the settings of a resumed session whose call did not name it. */
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
	/** How many turns mail may start until the client says something, or there was no mail for so long. */
	readonly maxMailTurns: number;
	readonly mailQuietSecs: number;
	/** Where figures are told to a monitoring system; 0 for a port that is free. */
	readonly metricsPort: number | undefined;
	/** Absolute paths. */
	readonly basePromptFile: string | undefined;
	readonly extraInstructionsFile: string | undefined;
	/** Which of Codex's servers to run. */
	readonly transport: 'auto' | 'mcp' | 'app-server';
	/** What the text of an agent file becomes. */
	readonly agentFileAs: 'prompt' | 'base-instructions';
	/** Whether a reply tells the session of a new branch or folder. */
	readonly contextOnReply: boolean;
	/** How many turns may wait for a session that is busy. */
	readonly maxQueuedTurns: number;
	readonly inboxFormat: 'auto' | 'native' | 'legacy';
	/** Whether sessions get tools for mail of their own: `bridge atm-tools`. */
	readonly atmTools: boolean;
	/** Folders whose own file may say more than others': see lib/serve/config/repository-trust.ts. */
	readonly trustedDirectories: readonly string[];
	/** When the audit file is made safe against a power cut. */
	readonly auditFsync: 'second' | 'always';
};

/** What was given on the command line. */
export type ServeFlags = {
	readonly config?: string | undefined;
	readonly team?: string | undefined;
	readonly identity?: string | undefined;
	readonly role?: string | undefined;
	readonly model?: string | undefined;
	/** Use `fast_model` as the model. */
	readonly isFast?: boolean | undefined;
	readonly sandbox?: string | undefined;
	readonly approvalPolicy?: string | undefined;
	readonly timeoutSecs?: number | undefined;
	/** The repository's own file may name programs and files outside of the repository. */
	readonly isTrusted?: boolean | undefined;
};

export type LoadServeConfigOptions = {
	readonly flags: ServeFlags;
	readonly env: NodeJS.ProcessEnv;
	readonly cwd: string;
};

/** The configuration with what there is to say about it. */
export type LoadedServeConfig = {
	readonly config: ServeConfig;
	/** Where each value comes from, by its name in `AtmConfig`; of roles and maps by `roles.NAME.model`, `aliases.NAME`. */
	readonly origins: ReadonlyMap<string, string>;
	/** Each a sentence that names the file and the key. */
	readonly warnings: readonly string[];
	/** The files that were read, the strongest first. */
	readonly files: readonly string[];
};
