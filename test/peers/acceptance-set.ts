import type {ExecutionContext} from 'ava';
import {commandOf, type Member, membersIn} from './acceptance-members.js';
import {initialize, initialized, JsonClient, type JsonEnding, listTools, toolNames} from './json-client.js';
import {type Command, temporaryFolder, throughBridge} from './peers.js';

export interface Outcome {
	readonly member: Member;
	/** The version that the client negotiated, and the one that the server returns directly. */
	readonly negotiated: unknown;
	readonly direct: unknown;
	/** The number of tools in each of several lists. */
	readonly lists: readonly number[];
	readonly ending: JsonEnding;
}

const listIds = [2, 3, 4, 5];

/** Runs a short session whose messages are sent in one burst. */
async function visit(client: JsonClient, version: string) {
	client.send(initialize(1, version), initialized, ...listIds.map(listTools));
	const negotiated = (await client.response(1)).result?.protocolVersion;
	const responses = await Promise.all(listIds.map(id => client.response(id)));
	return {negotiated, lists: responses.map(response => toolNames(response).length)};
}

async function negotiatedDirectly(t: ExecutionContext, server: Command): Promise<unknown> {
	const client = new JsonClient(t, server);
	client.send(initialize(1, '2025-11-25'));
	const {result} = await client.response(1);
	// Some servers have timers that keep them alive after stdin closes.
	await client.kill();
	return result?.protocolVersion;
}

/**
 * Starts all servers at once, each behind its own bridge, and keeps them running until all have responded.
 */
export async function visitAll(t: ExecutionContext, version: string): Promise<Outcome[]> {
	const folder = await temporaryFolder(t);
	const members = membersIn(folder).map(member => ({member, server: commandOf(member, folder)}));
	const clients = members.map(({server}) => new JsonClient(t, throughBridge(server)));
	const visits = await Promise.all(clients.map(client => visit(client, version)));
	const endings = await Promise.all(clients.map(client => client.close()));
	const outcomes: Outcome[] = [];
	for (const [index, {member, server}] of members.entries()) {
		const [seen, ending] = [visits[index], endings[index]];
		if (seen && ending) {
			outcomes.push({member, ...seen, direct: await negotiatedDirectly(t, server), ending});
		}
	}

	return outcomes;
}
