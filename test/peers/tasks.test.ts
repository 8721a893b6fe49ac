import test from 'ava';
import {everything} from './peers.js';
import {newMarker} from './processes.js';
import {compare, type Script, type Session} from './session.js';

const query = {
	name: 'simulate-research-query',
	arguments: {topic: 'python', ambiguous: true},
	task: {ttl: 60_000},
};

async function startTask({client, sdk, note}: Session): Promise<string> {
	const created = await client.request(
		{method: 'tools/call', params: query},
		sdk.schema('CreateTaskResultSchema'),
	);
	note('created', created);
	return String(Reflect.get(Object(Reflect.get(Object(created), 'task')), 'taskId'));
}

function script(): Script {
	return {
		capabilities: {elicitation: {form: {}}},
		prepare({client, sdk, note}) {
			client.setRequestHandler(sdk.schema('ElicitRequestSchema'), request => {
				note('request to elicit', Reflect.get(Object(request), 'params'));
				return {action: 'accept', content: {interpretation: 'snake'}};
			});
		},
		async play(session) {
			const {client, sdk, step} = session;
			const taskId = await startTask(session);
			const request = (method: string, params: object, schema: string) =>
				step(method, client.request({method, params}, sdk.schema(schema)));
			// The response arrives when the task is complete, after 4 s and the elicitation.
			await request('tasks/result', {taskId}, 'CallToolResultSchema');
			await request('tasks/get', {taskId}, 'GetTaskResultSchema');
			await request('tasks/list', {}, 'ListTasksResultSchema');
			await request('tasks/cancel', {taskId}, 'CancelTaskResultSchema');
		},
	};
}

test.serial('a task with an elicitation runs identically through bridge', async t => {
	t.timeout(60_000);
	await compare(t, async () => {
		const marker = newMarker(t);
		return {server: everything(marker), script: script(), marker};
	});
});
