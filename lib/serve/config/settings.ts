import type {RolePreset, ServeConfig} from './types.js';
import {
	booleanType,
	enumType,
	identityType,
	integerType,
	nameType,
	pathsType,
	pathType,
	programType,
	restrictionType,
	type SettingType,
	textType,
} from './value-types.js';

/** The old and the new name of the plugin's table. The first one takes precedence. */
export const pluginTables = ['codex-mcp', 'atm-agent-mcp'] as const;

export type ServeSetting = {
	readonly name: keyof ServeConfig;
	/** The keys in files. Earlier ones take precedence. */
	readonly keys: readonly string[];
	readonly type: SettingType;
	readonly fallback: unknown;
};

const toSnakeCase = (word: string): string => word.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`);

const defineSetting = (
	name: keyof ServeConfig,
	type: SettingType,
	fallback?: unknown,
	keys: readonly string[] = [toSnakeCase(name)],
): ServeSetting => ({name, type, fallback, keys});

const MAX_TIMER_SECS = 2_000_000;

const sandbox = restrictionType('read-only', 'workspace-write', 'danger-full-access');
/** Codex removed `on-failure` in mid-2026, and supports `untrusted` only in `codex app-server`. */
const approvalPolicy = restrictionType('untrusted', 'on-request', 'never');

export const roleSettings: ReadonlyArray<ServeSetting & {readonly name: keyof RolePreset}> = [
	{...defineSetting('model', textType), name: 'model'},
	{...defineSetting('sandbox', sandbox), name: 'sandbox'},
	{...defineSetting('approvalPolicy', approvalPolicy), name: 'approvalPolicy'},
	{...defineSetting('reasoningEffort', textType), name: 'reasoningEffort'},
];

export const pluginSettings: readonly ServeSetting[] = [
	defineSetting('codexBin', programType, 'codex'),
	defineSetting('identity', identityType, 'codex', ['default_identity', 'identity']),
	...roleSettings,
	defineSetting('fastModel', textType),
	defineSetting('role', nameType),
	defineSetting('mailPollIntervalMs', integerType(100, 3_600_000), 5000),
	defineSetting('requestTimeoutSecs', integerType(0, MAX_TIMER_SECS), 300),
	defineSetting('maxConcurrentThreads', integerType(1, 1000), 10),
	defineSetting('persistThreads', booleanType, true),
	defineSetting('autoMail', booleanType, true),
	defineSetting('maxMailMessages', integerType(1, 1000), 10, ['max_mail_messages', 'max_messages']),
	defineSetting('maxMailMessageLength', integerType(1, 1_000_000), 4096, [
		'max_mail_message_length',
		'max_message_length',
	]),
	defineSetting('maxMailTurns', integerType(1, 1_000_000), 10),
	defineSetting('mailQuietSecs', integerType(1, MAX_TIMER_SECS), 300),
	defineSetting('metricsPort', integerType(0, 65_535)),
	defineSetting('basePromptFile', pathType),
	defineSetting('extraInstructionsFile', pathType),
	defineSetting('transport', enumType('auto', 'mcp', 'app-server'), 'auto'),
	defineSetting('agentFileAs', enumType('prompt', 'base-instructions'), 'prompt'),
	defineSetting('contextOnReply', booleanType, true),
	defineSetting('maxQueuedTurns', integerType(0, 1000), 32),
	defineSetting('inboxFormat', enumType('auto', 'native', 'legacy'), 'auto'),
	defineSetting('atmTools', booleanType, true),
	defineSetting('auditFsync', enumType('second', 'always'), 'second'),
	defineSetting('trustedDirectories', pathsType, []),
];

/** The settings outside of the plugin's table. */
export const coreSettings: readonly ServeSetting[] = [
	defineSetting('team', nameType, 'default', ['default_team']),
	defineSetting('coreIdentity', nameType, 'human', ['identity']),
];

/** Tables with user-defined keys. */
export const userKeyedTables = ['roles', 'per_thread_auto_mail'] as const;

export const environmentVariableOf = ({name: settingName}: ServeSetting): string =>
	settingName === 'team'
		? 'ATM_TEAM'
		: settingName === 'coreIdentity'
			? 'ATM_IDENTITY'
			: `ATM_AGENT_MCP_${toSnakeCase(settingName).toUpperCase()}`;
