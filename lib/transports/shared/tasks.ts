import {change} from '../../change.js';
import {Envelope} from '../../envelope.js';
import {changed, listOf, objectOf} from '../../protocol/json.js';
import type {SharedClient} from './client.js';
import type {Exchange} from './exchange.js';

/** Whether a client may ask for a task: not if it is known to be another's. It is told that there is none then. */
export function ownTask(
	{tasks}: Exchange,
	client: SharedClient,
	{body: {params}}: Envelope,
	id: string,
): boolean {
	const {taskId} = objectOf(params);
	const isOwn = (tasks.get(taskId) ?? client) === client;
	const error = {code: -32602, message: 'Task not found.'};
	if (!isOwn) client.hear(Envelope.answer(id, 'error', error, client.origin));
	return isOwn;
}

/** A list of tasks without those that are known to be of others. */
export function withOwnTasks(
	{tasks}: Exchange,
	client: SharedClient,
	answer: Envelope,
	id: string,
): Envelope {
	const isOwn = (task: unknown): boolean => (tasks.get(objectOf(task).taskId) ?? client) === client;
	const own = change(answer, body =>
		changed(body, 'result', result =>
			changed(objectOf(result), 'tasks', list =>
				listOf(list).every(isOwn) ? list : listOf(list).filter(isOwn),
			),
		),
	);
	return own.relayed(client.origin, id);
}
