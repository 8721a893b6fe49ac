import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import type {Message} from '../../helpers/bridge.js';
import {messageIn, program, type RunningGateway} from '../../helpers/gateway.js';
import {startReplicas} from './support.js';

const VERSION = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';
const _meta = {
	[`${PREFIX}protocolVersion`]: VERSION,
	[`${PREFIX}clientInfo`]: {name: 'test', version: '1'},
	[`${PREFIX}clientCapabilities`]: {elicitation: {}},
};
const headers = {'mcp-protocol-version': VERSION, 'mcp-method': 'tools/call', 'mcp-name': 'ask'};

/** Calls the tool `ask`, which requires input. With `params` from inputFor, retries it with the input. */
async function call(gateway: RunningGateway, params: Message = {}, more = {}): Promise<Message> {
	const message = {id: 1, method: 'tools/call', params: {name: 'ask', _meta, ...params}};
	return messageIn(await gateway.post('asking', message, {...headers, authorization: 'Bearer a', ...more}));
}

/** The params of a retry with the requested input. */
function inputFor({result}: Message): Message {
	const {resultType, inputRequests, requestState} = objectOf(result);
	if (resultType !== 'input_required') throw new Error(`No input was requested: ${JSON.stringify(result)}`);
	const names = Object.keys(objectOf(inputRequests));
	const response = {action: 'accept', content: {name: 'Ada'}};
	return {requestState, inputResponses: Object.fromEntries(names.map(name => [name, response]))};
}

test('resumes a parked call at any replica, once and only for its principal [M3]', async t => {
	const [one, two] = await startReplicas(t, 2, {servers: {asking: program('asking')}});
	if (!one || !two) throw new Error('Two replicas are required.');
	const unknown = {error: {code: -32602, message: 'Invalid params: requestState is unknown, or too old'}};
	// The retry reaches the same or the other replica, on another connection with another user agent.
	for (const gateway of [one, two]) {
		const input = inputFor(await call(one, {}, {'user-agent': 'before'}));
		t.like(await call(gateway, input, {authorization: 'Bearer b'}), unknown);
		const {result} = await call(gateway, input, {'user-agent': 'after'});
		t.regex(JSON.stringify(result), /answered .*Ada/);
		t.like(await call(gateway, input), unknown);
	}
	const input = inputFor(await call(one));
	one.running.child.kill('SIGKILL');
	await one.running.exited;
	t.like(await call(two, input), {id: 1, ...unknown});
	t.regex(JSON.stringify(await call(two, inputFor(await call(two)))), /answered .*Ada/);
});
