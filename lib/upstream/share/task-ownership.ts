import {editMessage} from '../../core/edit-message.js';
import {Envelope} from '../../core/envelope.js';
import {listOf, mapMember, objectOf} from '../../util/json.js';
import type {ClientMultiplexer} from './client-multiplexer.js';
import type {SharedClient} from './shared-client.js';

/** Rejects a request for a task of another client, as if it did not exist. Returns whether it is allowed. */
export function checkTaskOwner(
	{taskOwners}: ClientMultiplexer,
	client: SharedClient,
	{body: {params}}: Envelope,
	id: string,
): boolean {
	const {taskId} = objectOf(params);
	const isOwn = (taskOwners.get(taskId) ?? client) === client;
	const error = {code: -32602, message: 'Task not found.'};
	if (!isOwn) client.send(Envelope.response(id, 'error', error, client.origin));
	return isOwn;
}

/** Returns a list of tasks without the tasks of other clients. */
export function filterOwnTasks(
	{taskOwners}: ClientMultiplexer,
	client: SharedClient,
	response: Envelope,
	id: string,
): Envelope {
	const isOwn = (task: unknown): boolean => (taskOwners.get(objectOf(task).taskId) ?? client) === client;
	const own = editMessage(response, body =>
		mapMember(body, 'result', result =>
			mapMember(objectOf(result), 'tasks', list =>
				listOf(list).every(isOwn) ? list : listOf(list).filter(isOwn),
			),
		),
	);
	return own.forwardedAs(client.origin, id);
}
