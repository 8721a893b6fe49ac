import {type JsonObject, objectOf, without} from '../../util/json.js';
import {mailToolSchemas} from '../mail/tool-schemas.js';

const textSchema = (description: string): JsonObject => ({type: 'string', description});

/** Members that bridge adds to results. Clients validate error results against the same schema. */
const extraOutputs: JsonObject = {
	codex_id: textSchema('Id of the session, for codex-reply, codex_close and later resumes.'),
	identity: textSchema('The identity of the session.'),
	resumed: {type: 'object', description: 'What a resumed session still has of its earlier context.'},
	notice: textSchema('Additional information for the caller.'),
	declined: {type: 'array', description: 'Approvals that were declined without asking the user, and why.'},
	error: {type: 'object', description: 'Why the call was rejected or interrupted: code, kind and details.'},
};

const startInputs: JsonObject = {
	identity: textSchema(
		'Name of the agent, unique among active sessions. Defaults to the configured identity.',
	),
	role: textSchema(
		'A role preset from the configuration: model, sandbox, approval policy, reasoning effort.',
	),
	tag: textSchema('A label for the session, listed by codex_threads.'),
	agent_file: textSchema(
		'File whose text is used as the prompt, relative to cwd, e.g. .claude/agents/rust-dev.md. Cannot be combined with prompt.',
	),
	agent_file_as: {
		...textSchema('How the text of agent_file is used. base-instructions also requires a prompt.'),
		enum: ['prompt', 'base-instructions'],
	},
	codex_id: textSchema(
		'Id of a session to continue, including closed ones and those of earlier runs. The prompt is then optional. tag and auto_mail are updated; model, cwd, sandbox, approval-policy and role apply from this turn on, or are rejected if Codex cannot change them.',
	),
	auto_mail: {type: 'boolean', description: 'Whether mail for this identity starts turns automatically.'},
};

const replyInputs: JsonObject = {
	codex_id: textSchema('Id of the session to continue, as returned by codex.'),
};

/** Extends a Codex tool definition by the arguments and results of bridge. */
export function extendCodexTool(tool: JsonObject): JsonObject {
	if (tool.name === 'codex')
		return withExtraSchema(tool, startInputs, [
			'Starts a session with its own identity. Many sessions run concurrently. Pass exactly one of prompt and agent_file,',
			'or codex_id to resume a session. The result contains the codex_id for later calls.',
		]);
	if (tool.name === 'codex-reply')
		return withExtraSchema(tool, replyInputs, [
			'Identify the session by codex_id. While it is busy, the call is queued.',
		]);
	return tool;
}

function withExtraSchema(tool: JsonObject, inputs: JsonObject, description: readonly string[]): JsonObject {
	const input = objectOf(tool.inputSchema);
	const output = objectOf(tool.outputSchema);
	const isReply = tool.name === 'codex-reply';
	const {properties} = input;
	return {
		...tool,
		description: [tool.description, ...description].filter(part => part !== undefined).join(' '),
		// Which arguments are required depends on others. Clients do not support schemas that express this.
		inputSchema: {
			type: 'object',
			...without(input, 'required'),
			...(isReply ? {required: ['prompt']} : {}),
			properties: {...objectOf(properties), ...inputs},
		},
		outputSchema: {
			type: 'object',
			...without(output, 'required', 'additionalProperties'),
			properties: {...objectOf(output.properties), ...extraOutputs},
		},
	};
}

export const codexToolNames: readonly string[] = ['codex', 'codex-reply'];

const readOnly = {readOnlyHint: true, openWorldHint: false};
const objectSchema = {type: 'object'};

export const bridgeToolSchemas: readonly JsonObject[] = [
	{
		name: 'codex_threads',
		title: 'Codex sessions',
		description:
			'Lists active sessions, sessions that can be resumed, and recently closed ones. Each has its codex_id, identity, state and last text.',
		inputSchema: {
			type: 'object',
			properties: {
				include_closed: {
					type: 'boolean',
					description:
						'true lists all closed sessions, false lists none. By default, the last 20 are listed.',
				},
				identity: textSchema('Only sessions with this identity.'),
			},
			additionalProperties: false,
		},
		outputSchema: {
			type: 'object',
			properties: {threads: {type: 'array', items: objectSchema}, error: objectSchema},
		},
		annotations: readOnly,
	},
	{
		name: 'codex_status',
		title: 'Status of Codex',
		description:
			'Returns the state of bridge serve: whether Codex is running, the number of sessions, and the session of each identity.',
		inputSchema: {type: 'object', properties: {}, additionalProperties: false},
		outputSchema: {type: 'object', properties: {child_alive: {type: 'boolean'}, error: objectSchema}},
		annotations: readOnly,
	},
	{
		name: 'codex_close',
		title: 'Close a Codex session',
		description:
			'Closes a session and releases its identity. A busy session is stopped and writes a summary first, within 10 s. Closing a closed session has no effect.',
		inputSchema: {
			type: 'object',
			properties: {
				codex_id: textSchema('Id of the session to close.'),
				identity: textSchema('Identity of the session to close, instead of codex_id.'),
			},
			additionalProperties: false,
		},
		outputSchema: {
			type: 'object',
			properties: {
				closed: {type: 'boolean'},
				codex_id: {type: 'string'},
				status: {type: 'string'},
				error: objectSchema,
			},
		},
		annotations: {destructiveHint: true, idempotentHint: true, openWorldHint: false},
	},
	...mailToolSchemas(false),
];
