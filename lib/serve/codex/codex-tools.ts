import type {JsonObject} from '../../util/json.js';

const stringSchema = (description: string): JsonObject => ({type: 'string', description});

const outputSchema = {
	type: 'object',
	properties: {threadId: {type: 'string'}, content: {type: 'string'}},
	required: ['threadId', 'content'],
};

/**
 * The tools of `codex mcp-server` for versions of Codex without it, with the approval policies of `codex
 * app-server`.
 */
export const codexToolDefinitions: readonly JsonObject[] = [
	{
		name: 'codex',
		title: 'Codex',
		description: 'Starts a Codex session with an initial prompt and returns when the turn ends.',
		inputSchema: {
			type: 'object',
			additionalProperties: false,
			properties: {
				prompt: stringSchema('The initial prompt for Codex.'),
				model: stringSchema('The model. Overrides the configured one.'),
				cwd: stringSchema(
					'The working folder. A relative path is resolved against the folder that bridge runs in.',
				),
				sandbox: {
					...stringSchema('The sandbox policy for commands.'),
					enum: ['read-only', 'workspace-write', 'danger-full-access'],
				},
				'approval-policy': {
					...stringSchema('When to ask the user for approval before running a command.'),
					enum: ['untrusted', 'on-request', 'never'],
				},
				config: {
					type: 'object',
					additionalProperties: true,
					description: 'Settings that override those of config.toml.',
				},
				'base-instructions': stringSchema('Instructions that replace the built-in ones of Codex.'),
				'developer-instructions': stringSchema('Instructions in addition to the built-in ones of Codex.'),
				'compact-prompt': stringSchema('The prompt for compacting the conversation.'),
			},
			required: ['prompt'],
		},
		outputSchema,
	},
	{
		name: 'codex-reply',
		title: 'Codex Reply',
		description: 'Continues a Codex session and returns when the turn ends.',
		inputSchema: {
			type: 'object',
			properties: {
				threadId: stringSchema('The thread id that codex returned.'),
				prompt: stringSchema('The next prompt for Codex.'),
			},
			required: ['threadId', 'prompt'],
		},
		outputSchema,
	},
];
