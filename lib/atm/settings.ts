import {
	flag,
	identity,
	type Kind,
	name,
	oneOf,
	path,
	paths,
	program,
	restriction,
	text,
	whole,
} from './kinds.js';
import type {AtmConfig, Role} from './types.js';

/** The tables of the plugin: as it was first called, and as it came to be called. The first one wins. */
export const pluginTables = ['codex-mcp', 'atm-agent-mcp'] as const;

/** One key of the configuration. */
export type Setting = {
	readonly name: keyof AtmConfig;
	/** How it is written in files, the strongest spelling first. */
	readonly keys: readonly string[];
	readonly kind: Kind;
	readonly fallback: unknown;
};

const snake = (word: string): string => word.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

const setting = (
	name: keyof AtmConfig,
	kind: Kind,
	fallback?: unknown,
	keys: readonly string[] = [snake(name)],
): Setting => ({name, kind, fallback, keys});

const MAX_TIMER_SECS = 2_000_000;

const sandbox = restriction('read-only', 'workspace-write', 'danger-full-access');
/** Codex has no on-failure since mid-2026, and untrusted only in `codex app-server`. */
const approvalPolicy = restriction('untrusted', 'on-request', 'never');

/** Keys that a role may have, too. */
export const roleSettings: ReadonlyArray<Setting & {readonly name: keyof Role}> = [
	{...setting('model', text), name: 'model'},
	{...setting('sandbox', sandbox), name: 'sandbox'},
	{...setting('approvalPolicy', approvalPolicy), name: 'approvalPolicy'},
	{...setting('reasoningEffort', text), name: 'reasoningEffort'},
];

/** The keys of the plugin's table. */
export const pluginSettings: readonly Setting[] = [
	setting('codexBin', program, 'codex'),
	setting('identity', identity, 'codex', ['default_identity', 'identity']),
	...roleSettings,
	setting('fastModel', text),
	setting('role', name),
	setting('mailPollIntervalMs', whole(100, 3_600_000), 5000),
	setting('requestTimeoutSecs', whole(0, MAX_TIMER_SECS), 300),
	setting('maxConcurrentThreads', whole(1, 1000), 10),
	setting('persistThreads', flag, true),
	setting('autoMail', flag, true),
	setting('maxMailMessages', whole(1, 1000), 10, ['max_mail_messages', 'max_messages']),
	setting('maxMailMessageLength', whole(1, 1_000_000), 4096, [
		'max_mail_message_length',
		'max_message_length',
	]),
	setting('maxMailTurns', whole(1, 1_000_000), 10),
	setting('mailQuietSecs', whole(1, MAX_TIMER_SECS), 300),
	setting('metricsPort', whole(0, 65_535)),
	setting('basePromptFile', path),
	setting('extraInstructionsFile', path),
	setting('transport', oneOf('auto', 'mcp', 'app-server'), 'auto'),
	setting('agentFileAs', oneOf('prompt', 'base-instructions'), 'prompt'),
	setting('contextOnReply', flag, true),
	setting('maxQueuedTurns', whole(0, 1000), 32),
	setting('inboxFormat', oneOf('auto', 'native', 'legacy'), 'auto'),
	setting('atmTools', flag, true),
	setting('auditFsync', oneOf('second', 'always'), 'second'),
	setting('trustedDirectories', paths, []),
];

/** The keys that are no plugin's. */
export const coreSettings: readonly Setting[] = [
	setting('team', name, 'default', ['default_team']),
	setting('coreIdentity', name, 'human', ['identity']),
];

/** Tables of names that anybody may choose. */
export const namedTables = ['roles', 'per_thread_auto_mail'] as const;

/** The variable that a setting can be given by. */
export const variableOf = ({name: of}: Setting): string =>
	of === 'team'
		? 'ATM_TEAM'
		: of === 'coreIdentity'
			? 'ATM_IDENTITY'
			: `ATM_AGENT_MCP_${snake(of).toUpperCase()}`;
