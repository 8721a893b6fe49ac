import test from 'ava';
import {startGateway} from '../../helpers/gateway.js';
import {type Met, startUpstream} from '../../helpers/upstream.js';

const SPOKEN = '2025-03-26';

const asksForAnother = ({message}: Met): boolean =>
	message.method === 'initialize' &&
	(message.params as {protocolVersion?: unknown} | undefined)?.protocolVersion !== SPOKEN;

const refusals = {
	'with HTTP 400 and -32602 that names what it speaks': (id: unknown) => ({
		type: 'application/json',
		body: JSON.stringify({
			jsonrpc: '2.0',
			id,
			error: {code: -32602, message: 'Unsupported protocol version', data: {supported: [SPOKEN]}},
		}),
	}),
	'with HTTP 400 and nothing but a word': () => ({type: 'text/plain', body: 'Bad Request'}),
};

for (const [how, refuse] of Object.entries(refusals))
	for (const transport of ['http', undefined])
		test(`edge case 2: a server that refuses a version ${how} is asked for older ones, and serves (transport ${transport ?? 'guessed'})`, async t => {
			const upstream = await startUpstream(t);
			upstream.version = SPOKEN;
			upstream.mood = met => {
				if (!asksForAnother(met)) return false;
				const {type, body} = refuse(met.message.id);
				met.response.writeHead(400, {'content-type': type}).end(body);
				return true;
			};
			const gateway = await startGateway(t, {
				servers: {old: {url: upstream.url, ...(transport ? {transport} : {})}},
			});
			const session = await gateway.open('old');
			t.like(await session.request(1, 'tools/list'), {result: {tools: [{name: 'echo'}]}});
			const {services} = JSON.parse((await gateway.fetch('/status')).text);
			t.is(services.old.version, SPOKEN);
		});
