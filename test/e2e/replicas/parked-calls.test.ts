import test from 'ava';
import {objectOf} from '../../../lib/util/json.js';
import type {Message} from '../../helpers/bridge.js';
import {messageIn, program, type RunningGateway} from '../../helpers/gateway.js';
import {startReplicas} from './support.js';

const MODERN = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';
const _meta = {
	[`${PREFIX}protocolVersion`]: MODERN,
	[`${PREFIX}clientInfo`]: {name: 'test', version: '1'},
	[`${PREFIX}clientCapabilities`]: {elicitation: {}},
};
const headers = {'mcp-protocol-version': MODERN, 'mcp-method': 'tools/call', 'mcp-name': 'ask'};

/** Calls the tool that asks for input; a second time, with what it asked for. */
async function call(gateway: RunningGateway, params: Message = {}, more = {}): Promise<Message> {
	const message = {id: 1, method: 'tools/call', params: {name: 'ask', _meta, ...params}};
	return messageIn(await gateway.post('asking', message, {...headers, authorization: 'Bearer a', ...more}));
}

/** What to come back with. */
function answerTo({result}: Message): Message {
	const {resultType, inputRequests, requestState} = objectOf(result);
	if (resultType !== 'input_required') throw new Error(`Nothing was asked: ${JSON.stringify(result)}`);
	const names = Object.keys(objectOf(inputRequests));
	const answer = {action: 'accept', content: {name: 'Ada'}};
	return {requestState, inputResponses: Object.fromEntries(names.map(name => [name, answer]))};
}

test('resumes a parked call at any replica, once and only for its principal [M3]', async t => {
	const [one, two] = await startReplicas(t, 2, {servers: {asking: program('asking')}});
	if (!one || !two) throw new Error('There are two.');
	const unknown = {error: {code: -32602, message: 'Invalid params: requestState is unknown, or too old'}};
	// Back at the same replica, and at the other one, though its connection and its user agent are not those of before.
	for (const gateway of [one, two]) {
		const input = answerTo(await call(one, {}, {'user-agent': 'before'}));
		t.like(await call(gateway, input, {authorization: 'Bearer b'}), unknown);
		const {result} = await call(gateway, input, {'user-agent': 'after'});
		t.regex(JSON.stringify(result), /answered .*Ada/);
		t.like(await call(gateway, input), unknown);
	}
	const input = answerTo(await call(one));
	one.running.child.kill('SIGKILL');
	await one.running.exited;
	t.like(await call(two, input), {id: 1, ...unknown});
	t.regex(JSON.stringify(await call(two, answerTo(await call(two)))), /answered .*Ada/);
});
