import {subscribe, unsubscribe} from 'node:diagnostics_channel';
import test from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {createLog} from '../../../lib/core/log.js';
import {httpClient} from '../../../lib/transports/http-client/http-client.js';
import {until} from '../../helpers/pipeline.js';
import {startUpstream, Upstream} from '../../helpers/upstream.js';

const log = createLog({level: 'error', write: () => {}, isPretty: false});
const REFUSED = 'undici:client:connectError';
const call = {jsonrpc: '2.0', id: 1, method: 'tools/call', params: {name: 'echo'}};

/** Sends a call to a port on which a server has just stopped. */
async function callClosedPort(onRefused: (port: number) => void) {
	const teardowns: Array<() => void> = [];
	const stopped = await startUpstream({teardown: (end: () => void) => teardowns.push(end)} as never);
	const {port, url} = stopped;
	for (const teardown of teardowns) teardown();
	let refusals = 0;
	const refused = (): void => {
		refusals++;
		onRefused(port);
	};
	subscribe(REFUSED, refused);
	const client = httpClient({name: 'remote', url: new URL(url), log});
	const received: Array<Record<string, unknown>> = [];
	client.incoming.subscribe(({body}) => received.push(body));
	client.outgoing.next(Envelope.of(call));
	await until(() => received.length > 0);
	unsubscribe(REFUSED, refused);
	await client.close();
	return {received, refusals};
}

test.serial('retries a call after a refused connection, so that it is executed once [D3]', async t => {
	const late = new Upstream();
	late.hasSessions = false;
	t.teardown(() => {
		late.server.closeAllConnections();
		late.server.close();
	});
	const {received, refusals} = await callClosedPort(port => late.server.listen(port, '127.0.0.1'));
	t.is(refusals, 1);
	t.like(received[0], {id: 1, result: {content: [{type: 'text'}]}});
	t.is(late.executions, 1);
});

test.serial('retries a call at most once [D3]', async t => {
	const {received, refusals} = await callClosedPort(() => {});
	t.is(refusals, 2);
	t.like(received, [{id: 1, error: {code: -31001}}]);
});
