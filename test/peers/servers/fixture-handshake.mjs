// A server of the handshake era that plays any of its versions. SDK 1.32.2, low-level Server.
//   FIXTURE_VERSIONS=2025-03-26,2024-11-05   what it accepts; the first is its answer to any other. The newest says what it can do
//   FIXTURE_ECHO=1                           answers initialize with whatever version it is asked for
//   FIXTURE_REFUSE=1                         answers initialize with -32602 unless it accepts the version
//   FIXTURE_INIT_DELAY_MS=30000              slow to initialize
//   FIXTURE_STRICT=1                         ends at a request before the handshake is complete, as Python servers do
//   FIXTURE_LISTEN=sse|ws                    over HTTP+SSE or WebSocket instead of stdio
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {Server} from '@modelcontextprotocol/sdk/server/index.js';
import {StdioServerTransport} from '@modelcontextprotocol/sdk/server/stdio.js';
import * as sdk from '@modelcontextprotocol/sdk/types.js';
import {
	Cancellations,
	completion,
	contentsOf,
	contentTools,
	listed,
	listedPrompts,
	promptMessages,
	resources,
	resourceTemplates,
	say,
	text,
} from './fixture-content.mjs';
import {listen} from './fixture-network.mjs';

const versions = (process.env.FIXTURE_VERSIONS || sdk.SUPPORTED_PROTOCOL_VERSIONS.join(',')).split(',');
const version = versions.toSorted().at(-1);
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];
const cancellations = new Cancellations();
const subscribed = new Set();
let level = 'debug';

async function log(data, {sendNotification}) {
	if (levels.indexOf('info') >= levels.indexOf(level)) {
		const params = {level: 'info', logger: 'fixture', data};
		await sendNotification({method: 'notifications/message', params});
	}
}

async function progress(done, {_meta, sendNotification}) {
	const progressToken = _meta?.progressToken;
	if (progressToken !== undefined) {
		const message = version >= '2025-03-26' ? {message: `Completed step ${done} of 100`} : {};
		const params = {progressToken, progress: done, total: 100, ...message};
		await sendNotification({method: 'notifications/progress', params});
	}
}

async function elicit(message, properties, required, {sendRequest}) {
	const params = {message, requestedSchema: {type: 'object', properties, required}};
	const answer = await sendRequest({method: 'elicitation/create', params}, sdk.ElicitResultSchema);
	return say(`User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
}

const titled = names => names.map(name => ({const: name, title: name.toUpperCase()}));

const tools = {
	...contentTools,
	async test_tool_with_logging(_given, extra) {
		for (const what of ['started', 'processing', 'completed']) await log(`Tool execution ${what}`, extra);
		return say('Tool with logging executed successfully');
	},
	async test_tool_with_progress(_given, extra) {
		for (const done of [0, 50, 100]) await progress(done, extra);
		return say('Tool with progress executed successfully');
	},
	async test_sampling({prompt}, {sendRequest}) {
		const params = {messages: [{role: 'user', content: text(prompt)}], maxTokens: 100};
		const answer = await sendRequest(
			{method: 'sampling/createMessage', params},
			sdk.CreateMessageResultSchema,
		);
		return say(`LLM response: ${answer.content.text}`);
	},
	async bridge_roots(_given, {sendRequest}) {
		const {roots} = await sendRequest({method: 'roots/list'}, sdk.ListRootsResultSchema);
		return say(`Roots: ${roots.map(root => root.uri).join(', ')}`);
	},
	test_elicitation: {
		since: '2025-06-18',
		run: ({message}, extra) =>
			elicit(message, {username: {type: 'string'}, email: {type: 'string'}}, ['username', 'email'], extra),
	},
	test_elicitation_sep1330_enums: {
		since: '2025-11-25',
		run: (_given, extra) =>
			elicit(
				'Please select options from the enum fields',
				{
					titledSingle: {type: 'string', oneOf: titled(['red', 'green'])},
					titledMulti: {type: 'array', items: {anyOf: titled(['left', 'right'])}},
				},
				[],
				extra,
			),
	},
	bridge_echo: (given, {_meta}) => say(JSON.stringify({arguments: given, meta: _meta ?? null})),
	async bridge_slow({ms = 1000}, extra) {
		// Whoever wants to cancel it knows by this that it runs.
		await progress(0, extra);
		await cancellations.sleep(ms, extra.signal);
		return say('slept');
	},
	/** Tells of a change, and only of the resource that the client has subscribed to. */
	async bridge_change() {
		await server.sendToolListChanged();
		for (const uri of subscribed) await server.sendResourceUpdated({uri});
		return say('changed');
	},
	bridge_cancelled: async () => say(`cancelled: ${await cancellations.first()}`),
};
const described = Object.fromEntries(
	Object.entries(tools).map(([name, tool]) => [name, typeof tool === 'function' ? {run: tool} : tool]),
);

const server = new Server(
	{name: 'bridge-fixture', version: '1.0.0', ...(version >= '2025-06-18' ? {title: 'Bridge fixture'} : {})},
	{
		capabilities: {
			tools: {listChanged: true},
			resources: {subscribe: true, listChanged: true},
			prompts: {listChanged: true},
			logging: {},
			completions: {},
		},
		instructions: 'Fixture server for proxy tests.',
	},
);

// Which version it answers is up to the environment, so that one SDK release can play all of them.
const initialize = server._oninitialize.bind(server);
server.setRequestHandler(sdk.InitializeRequestSchema, async request => {
	await sleep(Number(process.env.FIXTURE_INIT_DELAY_MS ?? 0));
	const asked = request.params.protocolVersion;
	if (process.env.FIXTURE_REFUSE && !versions.includes(asked)) {
		throw new sdk.McpError(-32602, `Unsupported protocol version: ${asked}`);
	}

	const result = await initialize(request);
	// Before 2025-03-26 completion was no capability: every server might have it.
	if (version < '2025-03-26') delete result.capabilities.completions;
	const known = versions.includes(asked) || process.env.FIXTURE_ECHO;
	return {...result, protocolVersion: known ? asked : versions[0]};
});

function answer(schema, handler) {
	server.setRequestHandler(schema, (request, extra) => handler(request.params ?? {}, extra));
}

answer(sdk.ListToolsRequestSchema, () => ({tools: listed(described, version)}));
answer(sdk.CallToolRequestSchema, async ({name, arguments: given}, extra) => {
	const tool = described[name];
	if (tool === undefined || (tool.since ?? '') > version) {
		throw new sdk.McpError(sdk.ErrorCode.InvalidParams, `Unknown tool: ${name}`);
	}

	try {
		return await tool.run(given ?? {}, extra);
	} catch (error) {
		return {isError: true, ...say(error.message)};
	}
});
answer(sdk.ListResourcesRequestSchema, () => ({resources}));
answer(sdk.ListResourceTemplatesRequestSchema, () => ({resourceTemplates}));
answer(sdk.ReadResourceRequestSchema, ({uri}) => {
	const contents = contentsOf(uri);
	if (contents === undefined) throw new sdk.McpError(-32002, 'Resource not found', {uri});
	return {contents};
});
answer(sdk.SubscribeRequestSchema, ({uri}) => {
	subscribed.add(uri);
	return {};
});
answer(sdk.UnsubscribeRequestSchema, ({uri}) => {
	subscribed.delete(uri);
	return {};
});
answer(sdk.ListPromptsRequestSchema, () => ({prompts: listedPrompts(version)}));
answer(sdk.GetPromptRequestSchema, ({name, arguments: given}) => {
	const messages = promptMessages(name, given);
	if (messages === undefined) {
		throw new sdk.McpError(sdk.ErrorCode.InvalidParams, `Unknown prompt: ${name}`);
	}

	return {messages};
});
answer(sdk.CompleteRequestSchema, completion);
answer(sdk.SetLevelRequestSchema, params => {
	level = params.level;
	return {};
});

/** Looks at every message as it arrives, before the SDK puts its work off to a later turn. */
function endAtHaste(transport) {
	const {onmessage} = transport;
	const send = transport.send.bind(transport);
	let initializeId;
	let answered = false;
	let ready = false;
	transport.send = message => {
		answered ||= initializeId !== undefined && message.id === initializeId;
		return send(message);
	};
	transport.onmessage = (message, extra) => {
		const {method, id} = message;
		if (method === 'initialize') initializeId = id;
		if (method === 'notifications/initialized') ready = answered;
		if (id !== undefined && method !== undefined && !['initialize', 'ping'].includes(method) && !ready) {
			process.stderr.write('Received request before initialization was complete\n');
			process.exit(1);
		}

		onmessage(message, extra);
	};
}

async function speakOnStdio() {
	const transport = new StdioServerTransport();
	await server.connect(transport);
	if (process.env.FIXTURE_STRICT) endAtHaste(transport);
}

if (process.env.FIXTURE_LISTEN) listen(server, process.env.FIXTURE_LISTEN);
else await speakOnStdio();
