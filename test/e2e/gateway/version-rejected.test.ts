import test from 'ava';
import {startGateway} from '../../helpers/gateway.js';
import {type Met, startUpstream} from '../../helpers/upstream.js';

const SUPPORTED = '2025-03-26';

const requestsOther = ({message}: Met): boolean =>
	message.method === 'initialize' &&
	(message.params as {protocolVersion?: unknown} | undefined)?.protocolVersion !== SUPPORTED;

const rejections = {
	'with HTTP 400, -32602 and its supported versions': (id: unknown) => ({
		type: 'application/json',
		body: JSON.stringify({
			jsonrpc: '2.0',
			id,
			error: {code: -32602, message: 'Unsupported protocol version', data: {supported: [SUPPORTED]}},
		}),
	}),
	'with HTTP 400 and plain text': () => ({type: 'text/plain', body: 'Bad Request'}),
};

for (const [how, reject] of Object.entries(rejections))
	for (const transport of ['http', undefined])
		test(`edge case 2: retries with older versions when an upstream rejects one ${how} (transport ${transport ?? 'guessed'})`, async t => {
			const upstream = await startUpstream(t);
			upstream.version = SUPPORTED;
			upstream.mood = met => {
				if (!requestsOther(met)) return false;
				const {type, body} = reject(met.message.id);
				met.response.writeHead(400, {'content-type': type}).end(body);
				return true;
			};
			const gateway = await startGateway(t, {
				servers: {old: {url: upstream.url, ...(transport ? {transport} : {})}},
			});
			const session = await gateway.open('old');
			t.like(await session.request(1, 'tools/list'), {result: {tools: [{name: 'echo'}]}});
			const {services} = JSON.parse((await gateway.fetch('/status')).text);
			t.is(services.old.version, SUPPORTED);
		});
