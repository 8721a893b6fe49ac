import {type JsonObject, objectOf} from '../../util/json.js';
import {addMcpServers} from '../codex/bridge-entries.js';
import type {RolePreset, ServeConfig} from '../config/types.js';
import {withMailServer} from '../mail/codex-server-entry.js';
import {joinParagraphs} from './session-context.js';
import {ToolError} from './tool-error.js';
import type {SessionEntry} from './types.js';

/** What the call that starts a session is made of. */
type CodexArgumentsInput = {
	/** The caller's own, which go before all else. */
	readonly forwarded: JsonObject;
	readonly prompt: string;
	readonly cwd: string;
	readonly settings: RolePreset;
	/** Appended to what the caller gives. */
	readonly context: string;
	/** What an earlier thread is remembered by; before what the caller gives. */
	readonly memory?: string | undefined;
	readonly extraInstructions?: string | undefined;
	readonly basePrompt?: string | undefined;
	/** The MCP server with the session's mail, if it is to have one. */
	readonly mailServer?: JsonObject | undefined;
	/** MCP servers that the session must not start, by their names. */
	readonly disabledServers?: JsonObject | undefined;
};

/** The arguments that Codex gets: nothing is sent that nobody has asked for. */
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

/** What Codex has in its configuration only; the caller's own goes before it. */
function buildConfig({forwarded, settings, mailServer, disabledServers = {}}: CodexArgumentsInput): unknown {
	const effort = settings.reasoningEffort;
	const configured = {...withoutUndefined({model_reasoning_effort: effort}), ...objectOf(forwarded.config)};
	const withoutDisabled = addMcpServers(configured, disabledServers);
	const config = mailServer ? withMailServer(withoutDisabled, mailServer) : withoutDisabled;
	return Object.keys(config).length > 0 ? config : forwarded.config;
}

const withoutUndefined = (object: JsonObject): JsonObject =>
	Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

/** The settings of a session. A role that the call named overrides flags; any other role has the rank of its source. */
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
	const available = roleNames.length === 0 ? 'None is configured' : `There are ${roleNames.join(', ')}`;
	const sentences = `There is no role ${JSON.stringify(role.slice(0, 100))}. ${available}: see [plugins.codex-mcp.roles.NAME] in .atm.toml.`;
	return new ToolError('invalid_params', sentences, {role: role.slice(0, 100), roles: roleNames});
}
