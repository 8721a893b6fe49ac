import test from 'ava';
import type {JsonObject} from '../../lib/util/json.js';
import type {Pair} from '../helpers/version-stages.js';
import {ready, takeReceived} from './stateless-support.js';

/* Memory limits of calls that run as tasks. */

const start = (): Pair =>
	ready({
		client: '2025-06-18',
		server: '2025-11-25',
		serverCapabilities: {tools: {}, tasks: {requests: {tools: {call: {}}}}},
	});

const required = (name: string) => ({
	name,
	inputSchema: {type: 'object'},
	execution: {taskSupport: 'required'},
});

const call = ({client}: Pair, id: unknown, name: string): void =>
	client.send({id, method: 'tools/call', params: {name}});

test('fails a call whose task id is too long [SEC-D5]', t => {
	const pair = start();
	pair.client.send({id: 'list', method: 'tools/list'});
	pair.upstream.send({id: 'list', result: {tools: [required('long')]}});
	takeReceived(pair.client);
	call(pair, 1, 'long');
	pair.upstream.send({id: 1, result: {task: {taskId: 'T'.repeat(5000), status: 'working'}}});
	t.like(takeReceived(pair.client), [{id: 1, error: {code: -32_603}}]);
});

test('limits the characters of the stored ids of pending list requests [SEC-D5]', t => {
	const pair = start();
	const id = (at: number): string => `${at}`.padEnd(4000, 'x');
	for (let at = 0; at < 300; at++) pair.client.send({id: id(at), method: 'tools/list'});
	for (const [at, name] of [
		[0, 'evicted'],
		[299, 'kept'],
	] as const)
		pair.upstream.send({id: id(at), result: {tools: [required(name)]}});
	takeReceived(pair.upstream);
	call(pair, 'a', 'evicted');
	call(pair, 'b', 'kept');
	const tasks = takeReceived(pair.upstream).map(({params}) => 'task' in (params as JsonObject));
	t.deepEqual(tasks, [false, true]);
});
