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

/** What fails where nobody has foreseen it, for some messages. */
const buggy = perMessage({
	toUpstream(envelope) {
		if (envelope.head.method === 'bug') throw new TypeError('nobody has foreseen this');
		return envelope;
	},
});

/** A gateway in this process, with a bug in its traffic log. */
async function buggyGateway(t: ExecutionContext) {
	const {log, entries} = readableLog();
	const {config} = resolveConfig({listen: '127.0.0.1:0', servers: {puppet: program('puppet')}}, '/');
	if (!config) throw new Error('It is a good configuration.');
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
			throw new Error('Nothing is run here.');
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
		const answer = await post({id: 1, method: 'initialize', params: opening});
		await answer.text();
		return answer.headers.get('mcp-session-id') ?? '';
	};
	return {post, open, entries};
}

test('a bug in one conversation is an error for who met it, the end of that one, and of no other [F7]', async t => {
	const {post, open, entries} = await buggyGateway(t);
	const [mine, others] = [await open(), await open()];
	const held = post({id: 'held', method: 'hold'}, mine);
	t.like(await (await post({id: 2, method: 'held'}, mine)).json(), {result: {count: 1}});
	for (const answer of [await post({id: 3, method: 'bug'}, mine), await held]) {
		t.is(answer.status, 502);
		const {error} = (await answer.json()) as {error: {code: number; data: object; message: string}};
		t.like(error, {code: -31005, data: {source: 'bridge', kind: 'closed'}});
		t.notRegex(error.message, /foreseen|TypeError| at /);
	}
	t.is((await post({id: 4, method: 'echo'}, mine)).status, 404, 'it has to begin anew');
	t.is((await post({id: 4, method: 'echo'}, others)).status, 200);
	t.is((await post({id: 5, method: 'echo'}, await open())).status, 200);
	const bugs = (await entries()).filter(({event}) => event === 'bug');
	t.is(bugs.length, 1);
	t.regex(JSON.stringify(bugs[0]), /nobody has foreseen this/);
});
