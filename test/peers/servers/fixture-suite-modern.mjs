// Features that only the official conformance suite requires of a server of the stateless era.
import {inputRequired} from '@modelcontextprotocol/server';
import {say, text} from './fixture-content.mjs';

const form = (message, properties) =>
	inputRequired.elicit({
		message,
		requestedSchema: {type: 'object', properties, required: Object.keys(properties)},
	});
const sample = prompt =>
	inputRequired.createMessage({messages: [{role: 'user', content: text(prompt)}], maxTokens: 50});
const askName = () => form('What is your name?', {name: {type: 'string'}});
const answered = (context, key) => context.mcpReq.inputResponses?.[key];

/** A tool that returns a sealed state, and its result when the state comes back with an input response. */
const withState =
	(codec, tool) =>
	async (_args, {mcpReq}) => {
		if (mcpReq.requestState() && mcpReq.inputResponses?.confirm) return say('state-ok');
		return inputRequired({
			inputRequests: {confirm: form('Please confirm', {ok: {type: 'boolean'}})},
			requestState: await codec.mint({tool}),
		});
	};

/** `codec` seals states. `extras` are the additions to the lists at run time. */
export function suiteTools(codec, extras) {
	return {
		async test_logging_tool(_args, {mcpReq}) {
			await mcpReq.log('info', 'log line');
			return say('logged');
		},
		test_streaming_elicitation(_args, context) {
			if (answered(context, 'user_name')) return say('ok');
			return inputRequired({inputRequests: {user_name: askName()}});
		},
		test_trigger_tool_change() {
			extras.tool = !extras.tool;
			extras.notify?.toolsChanged();
			return say('changed');
		},
		test_trigger_prompt_change() {
			extras.prompt = !extras.prompt;
			extras.notify?.promptsChanged();
			return say('changed');
		},
		test_input_required_result_elicitation(_args, context) {
			const answer = answered(context, 'user_name');
			if (typeof answer?.content?.name === 'string') return say(`Hello, ${answer.content.name}!`);
			if (answer && answer.action !== 'accept' && answer.action !== undefined) {
				return say(`It was: ${answer.action}`);
			}

			return inputRequired({inputRequests: {user_name: askName()}});
		},
		test_input_required_result_sampling(_args, context) {
			const answer = answered(context, 'capital_question');
			if (answer) return say(`LLM response: ${answer.content.text}`);
			return inputRequired({inputRequests: {capital_question: sample('What is the capital of France?')}});
		},
		test_input_required_result_request_state: withState(codec, 'request_state'),
		test_input_required_result_tampered_state: withState(codec, 'tampered'),
		/** Requests only input that the client supports. */
		test_input_required_result_capabilities(_args, {mcpReq}) {
			const can = mcpReq.envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
			const inputRequests = {
				...(can.sampling ? {greeting: sample('Say hi')} : {}),
				...(can.elicitation ? {user_name: askName()} : {}),
				...(can.roots ? {client_roots: inputRequired.listRoots()} : {}),
			};
			if (mcpReq.inputResponses || Object.keys(inputRequests).length === 0) return say('nothing to ask');
			return inputRequired({inputRequests});
		},
		bridge_header_param: {
			inputSchema: {
				type: 'object',
				properties: {region: {type: 'string', 'x-mcp-header': 'Region'}, query: {type: 'string'}},
				required: ['region'],
			},
			run: args => say(JSON.stringify(args)),
		},
	};
}

/** A prompt that requests its context first. */
export const suitePrompt = {
	name: 'test_input_required_result_prompt',
	get(context) {
		const answer = answered(context, 'user_context');
		if (answer) return {messages: [{role: 'user', content: text(`Context: ${answer.content?.context}`)}]};
		const user_context = form('What context should the prompt use?', {context: {type: 'string'}});
		return inputRequired({inputRequests: {user_context}});
	},
};
