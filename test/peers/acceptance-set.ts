import type {ExecutionContext} from 'ava';
import {commandOf, type Member, membersIn} from './acceptance-members.js';
import {initialize, initialized, JsonClient, type JsonEnding, listTools, toolNames} from './json-client.js';
import {type Command, temporaryFolder, throughBridge} from './peers.js';

export interface Outcome {
	readonly member: Member;
	/** What the client was told in the answer to its initialize, and what the server itself answers. */
	readonly told: unknown;
	readonly spoken: unknown;
	/** How many tools each of several lists had. */
	readonly lists: readonly number[];
	readonly ending: JsonEnding;
}

const asks = [2, 3, 4, 5];

/** A whole short session, everything in one burst. */
async function visit(client: JsonClient, version: string) {
	client.send(initialize(1, version), initialized, ...asks.map(listTools));
	const told = (await client.answer(1)).result?.protocolVersion;
	const answers = await Promise.all(asks.map(id => client.answer(id)));
	return {told, lists: answers.map(answer => toolNames(answer).length)};
}

async function spokenBy(t: ExecutionContext, server: Command): Promise<unknown> {
	const client = new JsonClient(t, server);
	client.send(initialize(1, '2025-11-25'));
	const {result} = await client.answer(1);
	// Some of them have timers that outlive their stdin.
	await client.kill();
	return result?.protocolVersion;
}

/** Starts all servers at once, each behind a bridge of its own; each is open until all have answered. */
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
			outcomes.push({member, ...seen, spoken: await spokenBy(t, server), ending});
		}
	}

	return outcomes;
}
