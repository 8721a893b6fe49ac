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

/** A port that somebody just stopped to listen on, and a call to whoever is there. */
async function toNobody(onRefused: (port: number) => void) {
	const endings: Array<() => void> = [];
	const gone = await startUpstream({teardown: (end: () => void) => endings.push(end)} as never);
	const {port, url} = gone;
	for (const end of endings) end();
	let refusals = 0;
	const refused = (): void => {
		refusals++;
		onRefused(port);
	};
	subscribe(REFUSED, refused);
	const client = httpClient({name: 'late', url: new URL(url), log});
	const heard: Array<Record<string, unknown>> = [];
	client.incoming.subscribe(({body}) => heard.push(body));
	client.outgoing.next(Envelope.of(call));
	await until(() => heard.length > 0);
	unsubscribe(REFUSED, refused);
	await client.close();
	return {heard, refusals};
}

test.serial('a call that never reached its server is sent again, and carried out once [D3]', async t => {
	const late = new Upstream();
	late.hasSessions = false;
	t.teardown(() => {
		late.server.closeAllConnections();
		late.server.close();
	});
	const {heard, refusals} = await toNobody(port => late.server.listen(port, '127.0.0.1'));
	t.is(refusals, 1);
	t.like(heard[0], {id: 1, result: {content: [{type: 'text'}]}});
	t.is(late.executions, 1);
});

test.serial('it is sent again once, and no more [D3]', async t => {
	const {heard, refusals} = await toNobody(() => {});
	t.is(refusals, 2);
	t.like(heard, [{id: 1, error: {code: -31001}}]);
});
