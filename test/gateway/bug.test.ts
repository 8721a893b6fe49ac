import test, {type ExecutionContext} from 'ava';
import {resolveConfig} from '../../lib/config/resolve-config.js';
import {LiveTraffic} from '../../lib/core/live-traffic.js';
import {logBug} from '../../lib/core/log.js';
import {perMessage} from '../../lib/core/stage.js';
import {Gateway} from '../../lib/gateway/gateway.js';
import {GatewayRequestHandler} from '../../lib/gateway/request-handler.js';
import {addressOf, listenHttp} from '../../lib/http/server.js';
import {conversationStarter} from '../../lib/upstream/start-conversation.js';
import {gatewayStages} from '../../pipelines/gateway.js';
import {opening} from '../helpers/bridge.js';
import {program} from '../helpers/gateway.js';
import {readableLog} from '../helpers/pipeline.js';

/** A stage that throws an unexpected error for one method. */
const buggy = perMessage({
	toUpstream(envelope) {
		if (envelope.head.method === 'bug') throw new TypeError('unexpected in test');
		return envelope;
	},
});

/** A gateway in this process, with a bug in its traffic log. */
async function buggyGateway(t: ExecutionContext) {
	const {log, entries} = readableLog();
	const {config} = resolveConfig({listen: '127.0.0.1:0', servers: {puppet: program('puppet')}}, '/');
	if (!config) throw new Error('The configuration is invalid.');
	const taps = () => ({client: buggy, upstream: {}, closed: () => {}});
	const gateway = new Gateway({
		config,
		log,
		version: '1',
		live: new LiveTraffic(),
		onStderr: () => {},
		replicas: undefined,
		configureReplicas: async () => undefined,
		droppedLogLines: () => 0,
		createRunner: () => {
			throw new Error('This test runs no programs.');
		},
		startConversation: conversationStarter({stages: gatewayStages, log, maxBytes: 2 ** 20, taps}),
	});
	const {handle} = new GatewayRequestHandler(gateway);
	const server = await listenHttp({...config.listen, handle, onBug: error => logBug(log, error)});
	t.teardown(async () => {
		server.closeAllConnections();
		server.close();
		await gateway.close(Promise.resolve());
	});
	const {port} = addressOf(server);
	const post = (message: object, session?: string): Promise<Response> =>
		fetch(`http://127.0.0.1:${port}/mcp/puppet`, {
			method: 'POST',
			headers: {
				'content-type': 'application/json',
				accept: 'application/json, text/event-stream',
				...(session === undefined ? {} : {'mcp-session-id': session}),
			},
			body: JSON.stringify({jsonrpc: '2.0', ...message}),
			signal: AbortSignal.timeout(20_000),
		});
	const open = async (): Promise<string> => {
		const response = await post({id: 1, method: 'initialize', params: opening});
		await response.text();
		return response.headers.get('mcp-session-id') ?? '';
	};
	return {post, open, entries};
}

test('a bug in one conversation fails its requests and ends only its session [F7]', async t => {
	const {post, open, entries} = await buggyGateway(t);
	const [failing, other] = [await open(), await open()];
	const pending = post({id: 'held', method: 'hold'}, failing);
	t.like(await (await post({id: 2, method: 'held'}, failing)).json(), {result: {count: 1}});
	for (const response of [await post({id: 3, method: 'bug'}, failing), await pending]) {
		t.is(response.status, 502);
		const {error} = (await response.json()) as {error: {code: number; data: object; message: string}};
		t.like(error, {code: -31005, data: {source: 'bridge', kind: 'closed'}});
		t.notRegex(error.message, /unexpected|TypeError| at /);
	}
	t.is((await post({id: 4, method: 'echo'}, failing)).status, 404, 'the session has ended');
	t.is((await post({id: 4, method: 'echo'}, other)).status, 200);
	t.is((await post({id: 5, method: 'echo'}, await open())).status, 200);
	const bugs = (await entries()).filter(({event}) => event === 'bug');
	t.is(bugs.length, 1);
	t.regex(JSON.stringify(bugs[0]), /unexpected in test/);
});
