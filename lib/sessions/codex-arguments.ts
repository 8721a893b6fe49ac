import type {AtmConfig, Role} from '../atm/types.js';
import {withServers} from '../codex/own-entries.js';
import {withMailServer} from '../mail/codex-server.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import {joined} from './context.js';
import {Refusal} from './refusal.js';
import type {SessionEntry} from './types.js';

/** What the call that starts a session is made of. */
export type Ingredients = {
	/** The caller's own, which go before all else. */
	readonly forwarded: JsonObject;
	readonly prompt: string;
	readonly cwd: string;
	readonly settings: Role;
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
export function codexArguments(ingredients: Ingredients): JsonObject {
	const {forwarded, prompt, cwd, context, memory, extraInstructions, basePrompt} = ingredients;
	const {settings} = ingredients;
	const instructions = forwarded['developer-instructions'] as string | undefined;
	const config = configOf(ingredients);
	return {
		...present({
			model: settings.model,
			sandbox: settings.sandbox,
			'approval-policy': settings.approvalPolicy,
			'base-instructions': basePrompt,
		}),
		...forwarded,
		...present({config}),
		'developer-instructions': joined(memory, instructions, extraInstructions, context),
		cwd,
		prompt,
	};
}

/** What Codex has in its configuration only; the caller's own goes before it. */
function configOf({forwarded, settings, mailServer, disabledServers = {}}: Ingredients): unknown {
	const effort = settings.reasoningEffort;
	const given = {...present({model_reasoning_effort: effort}), ...objectOf(forwarded.config)};
	const reduced = withServers(given, disabledServers);
	const config = mailServer ? withMailServer(reduced, mailServer) : reduced;
	return Object.keys(config).length > 0 ? config : forwarded.config;
}

const present = (object: JsonObject): JsonObject =>
	Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));

/** The settings of a session. A role that the call named overrides flags; any other role has the rank of its source. */
export function settingsOf(
	config: AtmConfig,
	{role, role_named: isNamed = false}: Pick<SessionEntry, 'role' | 'role_named'>,
): Role {
	if (role !== null && !config.roles.has(role)) throw unknownRole(role, config);
	const isDefault = !isNamed && role === (config.role ?? null);
	const preset = isNamed ? config.namedRoles : config.keptRoles;
	const {model, sandbox, approvalPolicy, reasoningEffort} =
		(isDefault ? undefined : preset.get(role ?? '')) ?? config;
	return {model, sandbox, approvalPolicy, reasoningEffort};
}

function unknownRole(role: string, {roles}: AtmConfig): Refusal {
	const known = [...roles.keys()];
	const there = known.length === 0 ? 'None is configured' : `There are ${known.join(', ')}`;
	const sentences = `There is no role ${JSON.stringify(role.slice(0, 100))}. ${there}: see [plugins.codex-mcp.roles.NAME] in .atm.toml.`;
	return new Refusal('invalid_params', sentences, {role: role.slice(0, 100), roles: known});
}
