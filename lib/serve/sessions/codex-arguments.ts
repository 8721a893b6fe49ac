import {type JsonObject, objectOf} from '../../util/json.js';
import {addMcpServers} from '../codex/bridge-entries.js';
import type {RolePreset, ServeConfig} from '../config/types.js';
import {withMailServer} from '../mail/codex-server-entry.js';
import {joinParagraphs} from './session-context.js';
import {ToolError} from './tool-error.js';
import type {SessionEntry} from './types.js';

type CodexArgumentsInput = {
	/** Arguments from the client. They override settings. */
	readonly forwarded: JsonObject;
	readonly prompt: string;
	readonly cwd: string;
	readonly settings: RolePreset;
	/** The session context, appended to the client's instructions. */
	readonly context: string;
	/** The summary of an earlier thread, inserted before the client's instructions. */
	readonly memory?: string | undefined;
	readonly extraInstructions?: string | undefined;
	readonly basePrompt?: string | undefined;
	/** The entry of the MCP server with the session's mail tools. */
	readonly mailServer?: JsonObject | undefined;
	/** Entries that disable MCP servers, by name. */
	readonly disabledServers?: JsonObject | undefined;
};

/** Builds the arguments of a `codex` call. Settings without a value are omitted. */
export function buildCodexArguments(input: CodexArgumentsInput): JsonObject {
	const {forwarded, prompt, cwd, context, memory, extraInstructions, basePrompt} = input;
	const {settings} = input;
	const instructions = forwarded['developer-instructions'] as string | undefined;
	const config = buildConfig(input);
	return {
		...withoutUndefined({
			model: settings.model,
			sandbox: settings.sandbox,
			'approval-policy': settings.approvalPolicy,
			'base-instructions': basePrompt,
		}),
		...forwarded,
		...withoutUndefined({config}),
		'developer-instructions': joinParagraphs(memory, instructions, extraInstructions, context),
		cwd,
		prompt,
	};
}

/** Builds `config`, for settings without an argument of `codex`. The client's `config` takes precedence. */
function buildConfig({forwarded, settings, mailServer, disabledServers = {}}: CodexArgumentsInput): unknown {
	const effort = settings.reasoningEffort;
	const configured = {...withoutUndefined({model_reasoning_effort: effort}), ...objectOf(forwarded.config)};
	const withoutDisabled = addMcpServers(configured, disabledServers);
	const config = mailServer ? withMailServer(withoutDisabled, mailServer) : withoutDisabled;
	return Object.keys(config).length > 0 ? config : forwarded.config;
}

const withoutUndefined = (object: JsonObject): JsonObject =>
	Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

/**
 * Returns the settings of a session. A role from the call overrides flags. Any other role has the precedence
 * of its source.
 */
export function resolveRoleSettings(
	config: ServeConfig,
	{role, role_named: isNamed = false}: Pick<SessionEntry, 'role' | 'role_named'>,
): RolePreset {
	if (role !== null && !config.roles.has(role)) throw unknownRoleError(role, config);
	const isDefault = !isNamed && role === (config.role ?? null);
	const preset = isNamed ? config.namedRoles : config.resumedRoles;
	const {model, sandbox, approvalPolicy, reasoningEffort} =
		(isDefault ? undefined : preset.get(role ?? '')) ?? config;
	return {model, sandbox, approvalPolicy, reasoningEffort};
}

function unknownRoleError(role: string, {roles}: ServeConfig): ToolError {
	const roleNames = [...roles.keys()];
	const available =
		roleNames.length === 0 ? 'No roles are configured' : `Configured roles: ${roleNames.join(', ')}`;
	const sentences = `Unknown role ${JSON.stringify(role.slice(0, 100))}. ${available}. See [plugins.codex-mcp.roles.NAME] in .atm.toml.`;
	return new ToolError('invalid_params', sentences, {role: role.slice(0, 100), roles: roleNames});
}
