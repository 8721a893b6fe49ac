import type {JsonObject} from '../../util/json.js';

const stringSchema = (description: string): JsonObject => ({type: 'string', description});

const outputSchema = {
	type: 'object',
	properties: {threadId: {type: 'string'}, content: {type: 'string'}},
	required: ['threadId', 'content'],
};

/** The tools of `codex mcp-server`, for the Codex that has none: the same names, with the policies that it knows now. */
export const codexToolDefinitions: readonly JsonObject[] = [
	{
		name: 'codex',
		title: 'Codex',
		description: 'Starts a Codex session with a first prompt, and answers when its turn is over.',
		inputSchema: {
			type: 'object',
			additionalProperties: false,
			properties: {
				prompt: stringSchema('What Codex is to do first.'),
				model: stringSchema('The model, in the place of the configured one.'),
				cwd: stringSchema('The folder to work in. A relative one is seen from where bridge runs.'),
				sandbox: {
					...stringSchema('What commands may do.'),
					enum: ['read-only', 'workspace-write', 'danger-full-access'],
				},
				'approval-policy': {
					...stringSchema('When the user is asked before a command is run.'),
					enum: ['untrusted', 'on-request', 'never'],
				},
				config: {
					type: 'object',
					additionalProperties: true,
					description: 'Settings that go before those of config.toml.',
				},
				'base-instructions': stringSchema('Instructions in the place of those that Codex comes with.'),
				'developer-instructions': stringSchema('Instructions beside those that Codex comes with.'),
				'compact-prompt': stringSchema('The prompt to compact the conversation with.'),
			},
			required: ['prompt'],
		},
		outputSchema,
	},
	{
		name: 'codex-reply',
		title: 'Codex Reply',
		description: 'Goes on with a Codex session, and answers when its turn is over.',
		inputSchema: {
			type: 'object',
			properties: {
				threadId: stringSchema('The thread, as codex has answered it.'),
				prompt: stringSchema('What Codex is to do next.'),
			},
			required: ['threadId', 'prompt'],
		},
		outputSchema,
	},
];
