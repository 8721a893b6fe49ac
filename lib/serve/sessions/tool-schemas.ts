import {type JsonObject, objectOf, without} from '../../util/json.js';
import {mailToolSchemas} from '../mail/tool-schemas.js';

const textSchema = (description: string): JsonObject => ({type: 'string', description});

/** What a result may hold beyond Codex's own: also where it is a refusal, which clients check against this, too. */
const extraOutputs: JsonObject = {
	codex_id: textSchema('The session, for codex-reply, codex_close and later resumes.'),
	identity: textSchema('The identity that the session has.'),
	resumed: {type: 'object', description: 'What a resumed session has of what was before.'},
	notice: textSchema('What else the caller has to know.'),
	declined: {type: 'array', description: 'Approvals that were declined without asking the user, and why.'},
	error: {type: 'object', description: 'Why the call was refused or cut short: code, kind, and the facts.'},
};

const startInputs: JsonObject = {
	identity: textSchema(
		'Name of the agent, unique among active sessions. Without it, the configured default is used.',
	),
	role: textSchema('A role preset of the configuration: model, sandbox, approval policy, reasoning effort.'),
	tag: textSchema('A label of your own, shown by codex_threads.'),
	agent_file: textSchema(
		'File whose text is the prompt, relative to cwd, e.g. .claude/agents/rust-dev.md. Not together with prompt.',
	),
	agent_file_as: {
		...textSchema('What the text of agent_file becomes; base-instructions needs a prompt besides.'),
		enum: ['prompt', 'base-instructions'],
	},
	codex_id: textSchema(
		'A session to go on with, also a closed one, or one of an earlier run. The prompt is optional then. tag and auto_mail change; model, cwd, sandbox, approval-policy and role apply from this turn on, or are rejected if Codex cannot change them.',
	),
	auto_mail: {type: 'boolean', description: 'Whether mail for this identity starts turns by itself.'},
};

const replyInputs: JsonObject = {
	codex_id: textSchema('The session to go on with, as codex has answered it.'),
};

/** One of Codex's own tools, as Codex describes it, with what is possible here besides. */
export function extendCodexTool(tool: JsonObject): JsonObject {
	if (tool.name === 'codex')
		return withExtraSchema(tool, startInputs, [
			'Starts a session with an identity of its own; many run at once. Give exactly one of prompt and agent_file,',
			'or codex_id to resume a session. The result holds the codex_id to go on with.',
		]);
	if (tool.name === 'codex-reply')
		return withExtraSchema(tool, replyInputs, [
			'Name the session by codex_id. While it is busy, the call waits for its turn.',
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
		// What is required depends on what else is given, which clients do not understand as a schema.
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

/** The tools of Codex. */
export const codexToolNames: readonly string[] = ['codex', 'codex-reply'];

const readOnly = {readOnlyHint: true, openWorldHint: false};
const objectSchema = {type: 'object'};

/** The tools that are answered here. */
export const bridgeToolSchemas: readonly JsonObject[] = [
	{
		name: 'codex_threads',
		title: 'Codex sessions',
		description:
			'Lists sessions: the active ones, those that can be resumed, and the last that were closed, each with its codex_id, identity, state and last words.',
		inputSchema: {
			type: 'object',
			properties: {
				include_closed: {
					type: 'boolean',
					description: 'true lists all that were closed, false none; without it, the last 20.',
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
			'Tells how bridge serve is doing: whether Codex runs, how many sessions there are, and who has which identity.',
		inputSchema: {type: 'object', properties: {}, additionalProperties: false},
		outputSchema: {type: 'object', properties: {child_alive: {type: 'boolean'}, error: objectSchema}},
		annotations: readOnly,
	},
	{
		name: 'codex_close',
		title: 'Close a Codex session',
		description:
			'Ends a session and frees its identity. A busy one is stopped and asked for a summary first, within 10 s. Closing one that is closed does nothing.',
		inputSchema: {
			type: 'object',
			properties: {
				codex_id: textSchema('The session to close.'),
				identity: textSchema('The identity whose session is to be closed, instead of codex_id.'),
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
