// A server of the handshake era that plays any of its versions. SDK 1.32.2, low-level Server.
//   node fixture-handshake.mjs [stdio]       stdio
//   node fixture-handshake.mjs http PORT     streamable HTTP at /mcp, with sessions and resumable streams
//   node fixture-handshake.mjs sse PORT      HTTP+SSE at /sse and /messages
//   node fixture-handshake.mjs ws PORT       WebSocket, subprotocol mcp
// The first line on stderr is its port, also when PORT is 0. Further arguments are ignored.
//   FIXTURE_VERSIONS=2025-03-26,2024-11-05   accepted versions; the first is the fallback, the newest decides on the features
//   FIXTURE_SUITE=1                          all features that the official conformance suite requires, in any version
//   FIXTURE_ECHO=1                           responds to initialize with the requested version
//   FIXTURE_REFUSE=1                         responds to initialize with -32602 unless it accepts the version
//   FIXTURE_INIT_DELAY_MS=30000              delays the initialize response
//   FIXTURE_STRICT=1                         exits on a request before the handshake is complete, as Python servers do
import process from 'node:process';
import {setTimeout as sleep} from 'node:timers/promises';
import {Server} from '@modelcontextprotocol/sdk/server/index.js';
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
import {suiteTools} from './fixture-suite.mjs';
import {serve} from './fixture-transports.mjs';

const versions = (process.env.FIXTURE_VERSIONS || sdk.SUPPORTED_PROTOCOL_VERSIONS.join(',')).split(',');
// The suite's clients use all features. Real servers, too, send fields and tools that are newer than the negotiated
// version, and a proxy must translate them.
const version = process.env.FIXTURE_SUITE ? '2025-11-25' : versions.toSorted().at(-1);
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

async function log(data, {session, sendNotification}) {
	if (levels.indexOf('info') >= levels.indexOf(session.level)) {
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
	const response = await sendRequest({method: 'elicitation/create', params}, sdk.ElicitResultSchema);
	return say(`User response: action=${response.action}, content=${JSON.stringify(response.content ?? {})}`);
}

const titled = names => names.map(name => ({const: name, title: name.toUpperCase()}));

const tools = {
	...contentTools,
	async test_tool_with_logging(_args, extra) {
		for (const what of ['started', 'processing', 'completed']) await log(`Tool execution ${what}`, extra);
		return say('Tool with logging executed successfully');
	},
	async test_tool_with_progress(_args, extra) {
		for (const done of [0, 50, 100]) await progress(done, extra);
		return say('Tool with progress executed successfully');
	},
	async test_sampling({prompt}, {sendRequest}) {
		const params = {messages: [{role: 'user', content: text(prompt)}], maxTokens: 100};
		const response = await sendRequest(
			{method: 'sampling/createMessage', params},
			sdk.CreateMessageResultSchema,
		);
		return say(`LLM response: ${response.content.text}`);
	},
	async bridge_roots(_args, {sendRequest}) {
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
		run: (_args, extra) =>
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
	bridge_echo: (args, {_meta}) => say(JSON.stringify({arguments: args, meta: _meta ?? null})),
	async bridge_slow({ms = 1000}, extra) {
		// A client that cancels the call waits for this progress.
		await progress(0, extra);
		await extra.session.cancellations.sleep(ms, extra.signal);
		return say('slept');
	},
	/** Notifies of changes, and of the resource only if the client has subscribed to it. */
	async bridge_change(_args, {session: {server, subscribed}}) {
		await server.sendToolListChanged();
		for (const uri of subscribed) await server.sendResourceUpdated({uri});
		return say('changed');
	},
	bridge_cancelled: async (_args, {session}) => say(`cancelled: ${await session.cancellations.first()}`),
	...(process.env.FIXTURE_SUITE ? suiteTools(elicit) : {}),
};
const described = Object.fromEntries(
	Object.entries(tools).map(([name, tool]) => [name, typeof tool === 'function' ? {run: tool} : tool]),
);

/** Creates a server with the state of its client. */
function startSession() {
	const server = new Server(
		{
			name: 'bridge-fixture',
			version: '1.0.0',
			...(version >= '2025-06-18' ? {title: 'Bridge fixture'} : {}),
		},
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
	return {server, subscribed: new Set(), cancellations: new Cancellations(), level: 'debug'};
}

// The environment sets the version of the response, so that one SDK release can play all versions.
function handleInitialize(server) {
	const initialize = server._oninitialize.bind(server);
	server.setRequestHandler(sdk.InitializeRequestSchema, async request => {
		await sleep(Number(process.env.FIXTURE_INIT_DELAY_MS ?? 0));
		const asked = request.params.protocolVersion;
		if (process.env.FIXTURE_REFUSE && !versions.includes(asked)) {
			throw new sdk.McpError(-32602, `Unsupported protocol version: ${asked}`);
		}

		const result = await initialize(request);
		// Before 2025-03-26 completion was not a capability: each server could support it.
		if (version < '2025-03-26') delete result.capabilities.completions;
		const known = versions.includes(asked) || process.env.FIXTURE_ECHO;
		return {...result, protocolVersion: known ? asked : versions[0]};
	});
}

async function call({name, arguments: args}, extra) {
	const tool = described[name];
	if (tool === undefined || (tool.since ?? '') > version) {
		throw new sdk.McpError(sdk.ErrorCode.InvalidParams, `Unknown tool: ${name}`);
	}

	try {
		return await tool.run(args ?? {}, extra);
	} catch (error) {
		return {isError: true, ...say(error.message)};
	}
}

function answerTheRest(session) {
	function answer(schema, handler) {
		session.server.setRequestHandler(schema, (request, extra) => handler(request.params ?? {}, extra));
	}

	answer(sdk.ListToolsRequestSchema, () => ({tools: listed(described, version)}));
	answer(sdk.CallToolRequestSchema, (params, extra) => call(params, {...extra, session}));
	answer(sdk.ListResourcesRequestSchema, () => ({resources}));
	answer(sdk.ListResourceTemplatesRequestSchema, () => ({resourceTemplates}));
	answer(sdk.ReadResourceRequestSchema, ({uri}) => {
		const contents = contentsOf(uri);
		if (contents === undefined) throw new sdk.McpError(-32002, 'Resource not found', {uri});
		return {contents};
	});
	answer(sdk.SubscribeRequestSchema, ({uri}) => {
		session.subscribed.add(uri);
		return {};
	});
	answer(sdk.UnsubscribeRequestSchema, ({uri}) => {
		session.subscribed.delete(uri);
		return {};
	});
	answer(sdk.ListPromptsRequestSchema, () => ({prompts: listedPrompts(version)}));
	answer(sdk.GetPromptRequestSchema, ({name, arguments: args}) => {
		const messages = promptMessages(name, args);
		if (messages === undefined) {
			throw new sdk.McpError(sdk.ErrorCode.InvalidParams, `Unknown prompt: ${name}`);
		}

		return {messages};
	});
	answer(sdk.CompleteRequestSchema, completion);
	answer(sdk.SetLevelRequestSchema, ({level}) => {
		session.level = level;
		return {};
	});
}

/** Checks each message on arrival, before the SDK defers its handling. */
function exitOnEarlyRequest(transport) {
	const {onmessage} = transport;
	const send = transport.send.bind(transport);
	let initializeId;
	let answered = false;
	let ready = false;
	transport.send = (message, options) => {
		answered ||= initializeId !== undefined && message.id === initializeId;
		return send(message, options);
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

await serve(process.argv.slice(2), async transport => {
	const session = startSession();
	handleInitialize(session.server);
	answerTheRest(session);
	await session.server.connect(transport);
	if (process.env.FIXTURE_STRICT) exitOnEarlyRequest(transport);
});
