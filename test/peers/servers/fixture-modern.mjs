// A server of the stateless era, 2026-07-28. SDK v2, low-level Server.
//   node fixture-modern.mjs reject              stdio; supports only 2026-07-28
//   node fixture-modern.mjs serve               stdio; also supports clients of the handshake era
//   node fixture-modern.mjs http PORT reject    HTTP at /mcp; without `reject` it supports both eras
// The first line on stderr is its port, also when PORT is 0.
//   FIXTURE_SUITE=1    all features that the official conformance suite requires
import process from 'node:process';
import {toNodeHandler} from '@modelcontextprotocol/node';
import {
	createMcpHandler,
	createRequestStateCodec,
	hostHeaderValidationResponse,
	inputRequired,
	originValidationResponse,
	ProtocolError,
	Server,
} from '@modelcontextprotocol/server';
import {serveStdio} from '@modelcontextprotocol/server/stdio';
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
import {suitePrompt, suiteTools} from './fixture-suite-modern.mjs';
import {listen, loopback} from './fixture-transports.mjs';

const version = '2026-07-28';
const codec = createRequestStateCodec({key: new TextEncoder().encode('fixture-key-fixture-key-fixture!')});
const cancellations = new Cancellations();
const isForSuite = Boolean(process.env.FIXTURE_SUITE);
// The changes made at run time, and the callback to notify subscribers.
const extras = {tool: false, prompt: false, notify: undefined};

const form = (message, properties) =>
	inputRequired.elicit({
		message,
		requestedSchema: {type: 'object', properties, required: Object.keys(properties)},
	});
const sample = (prompt, maxTokens = 50) =>
	inputRequired.createMessage({messages: [{role: 'user', content: text(prompt)}], maxTokens});
const askName = () => form('What is your name?', {name: {type: 'string'}});
const answered = (context, key) => context.mcpReq.inputResponses?.[key];

async function progress(done, {mcpReq}) {
	const progressToken = mcpReq._meta?.progressToken;
	if (progressToken !== undefined) {
		const params = {progressToken, progress: done, total: 100, message: `Completed step ${done} of 100`};
		await mcpReq.notify({method: 'notifications/progress', params});
	}
}

/** Tools that request input from the client before they return a result. */
const askingTools = {
	test_input_required_result_elicitation(_args, context) {
		const answer = answered(context, 'user_name');
		if (answer === undefined) return inputRequired({inputRequests: {user_name: askName()}});
		return say(answer.action === 'accept' ? `Hello, ${answer.content.name}!` : `It was: ${answer.action}`);
	},
	test_input_required_result_sampling({prompt}, context) {
		const answer = answered(context, 'question');
		if (answer === undefined) return inputRequired({inputRequests: {question: sample(prompt, 100)}});
		return say(`LLM response: ${answer.content.text}`);
	},
	test_input_required_result_list_roots(_args, context) {
		const answer = answered(context, 'client_roots');
		if (answer === undefined)
			return inputRequired({inputRequests: {client_roots: inputRequired.listRoots()}});
		return say(`Roots: ${answer.roots.map(root => root.uri).join(', ')}`);
	},
	async test_input_required_result_multiple_inputs(_args, context) {
		const inputRequests = {
			user_name: askName(),
			greeting: sample('Generate a greeting'),
			client_roots: inputRequired.listRoots(),
		};
		const complete = Object.keys(inputRequests).every(key => answered(context, key));
		if (complete && context.mcpReq.requestState()) return say('all inputs received');
		return inputRequired({inputRequests, requestState: await codec.mint({tool: 'multi'})});
	},
	async test_input_required_result_multi_round(_args, context) {
		const state = context.mcpReq.requestState();
		const ask = async (step, message, member, more) =>
			inputRequired({
				inputRequests: {[step]: form(message, {[member]: {type: 'string'}})},
				requestState: await codec.mint({step, ...more}),
			});
		if (state?.step === 'step2') {
			return say(`${state.name} likes ${answered(context, 'step2')?.content?.color}`);
		}

		const name = state?.step === 'step1' ? answered(context, 'step1')?.content?.name : undefined;
		return name === undefined
			? ask('step1', 'Step 1: What is your name?', 'name', {})
			: ask('step2', 'Step 2: What is your favorite color?', 'color', {name});
	},
};

const tools = {
	...contentTools,
	...askingTools,
	async test_tool_with_logging(_args, {mcpReq}) {
		for (const what of ['started', 'processing', 'completed']) {
			await mcpReq.log('info', `Tool execution ${what}`, 'fixture');
		}

		return say('Tool with logging executed successfully');
	},
	async test_tool_with_progress(_args, context) {
		for (const done of [0, 50, 100]) await progress(done, context);
		return say('Tool with progress executed successfully');
	},
	test_missing_capability(_args, {mcpReq}) {
		const capabilities = mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'];
		if (capabilities?.sampling) return say('ok');
		const data = {requiredCapabilities: {sampling: {}}};
		throw new ProtocolError(-32021, 'Missing required client capability: sampling', data);
	},
	bridge_array_output: {
		outputSchema: {type: 'array', items: {$ref: '#/$defs/number'}, $defs: {number: {type: 'number'}}},
		run: () => ({content: [text('[1,2,3]')], structuredContent: [1, 2, 3]}),
	},
	bridge_echo: (args, {mcpReq}) => say(JSON.stringify({arguments: args, meta: mcpReq._meta ?? null})),
	async bridge_slow({ms = 1000}, context) {
		// A client that cancels the call waits for this progress.
		await progress(0, context);
		await cancellations.sleep(ms, context.mcpReq.signal);
		return say('slept');
	},
	/** Notifies clients that are subscribed to the change. */
	async bridge_change(_args, {server}) {
		await server.sendToolListChanged();
		for (const {uri} of resources) await server.sendResourceUpdated({uri});
		return say('changed');
	},
	bridge_cancelled: async () => say(`cancelled: ${await cancellations.first()}`),
	...(isForSuite ? suiteTools(codec, extras) : {}),
};
const described = Object.fromEntries(
	Object.entries(tools).map(([name, tool]) => [name, typeof tool === 'function' ? {run: tool} : tool]),
);

function serveContent(server) {
	server.setRequestHandler('resources/list', () => ({resources}));
	server.setRequestHandler('resources/templates/list', () => ({resourceTemplates}));
	server.setRequestHandler('resources/read', ({params: {uri}}) => {
		const contents = contentsOf(uri);
		if (contents === undefined) throw new ProtocolError(-32602, 'Resource not found', {uri});
		return {contents};
	});
	server.setRequestHandler('prompts/list', () => ({
		prompts: [
			...listedPrompts(version),
			...(isForSuite ? [{name: suitePrompt.name, description: 'Asks first'}] : []),
			...(extras.prompt ? [{name: 'test_dynamic', description: 'Came later'}] : []),
		],
	}));
	server.setRequestHandler('prompts/get', ({params: {name, arguments: args}}, context) => {
		if (isForSuite && name === suitePrompt.name) return suitePrompt.get(context);
		const messages = promptMessages(name, args);
		if (messages === undefined) throw new ProtocolError(-32602, `Unknown prompt: ${name}`);
		return {messages};
	});
	server.setRequestHandler('completion/complete', ({params}) => completion(params));
}

function build() {
	const server = new Server(
		{name: 'bridge-fixture-modern', version: '1.0.0'},
		{
			capabilities: {
				tools: {listChanged: true},
				resources: {subscribe: true, listChanged: true},
				prompts: {listChanged: true},
				logging: {},
				completions: {},
			},
			instructions: 'Modern fixture server for proxy tests.',
			requestState: {verify: codec.verify},
		},
	);
	server.setRequestHandler('tools/list', () => ({
		tools: listed(extras.tool ? {...described, test_dynamic: {}} : described, version),
	}));
	server.setRequestHandler('tools/call', async ({params: {name, arguments: args}}, context) => {
		const tool = described[name];
		if (tool === undefined) throw new ProtocolError(-32602, `Unknown tool: ${name}`);
		return tool.run(args ?? {}, {...context, server});
	});
	serveContent(server);
	return server;
}

/** Serves over HTTP. Rejects a foreign Host or Origin to prevent DNS rebinding. */
async function serveHttp(port, legacy) {
	const handler = createMcpHandler(build, {legacy});
	extras.notify = handler.notify;
	const answer = toNodeHandler({
		fetch: async (request, options) =>
			hostHeaderValidationResponse(request, loopback) ??
			originValidationResponse(request, loopback) ??
			handler.fetch(request, options),
	});
	await listen((request, response) => {
		if (request.url.split('?')[0] === '/mcp') answer(request, response);
		else response.writeHead(404).end();
	}, port);
}

const [mode, port = '0', legacy] = process.argv.slice(2);
if (mode === 'http') await serveHttp(port, legacy === 'reject' ? 'reject' : 'stateless');
else serveStdio(build, {legacy: mode === 'reject' ? 'reject' : 'serve'});
