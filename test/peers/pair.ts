import test, {type ExecutionContext} from 'ava';
import type {CallResult, EraClient} from './era-client.js';
import {connect} from './era-clients.js';
import {isModern, type Release, serverOf, type Version} from './eras.js';
import {throughBridge} from './peers.js';
import {newMarker} from './processes.js';

/** For work on these tests themselves: no bridge in between. It says whether the expectations hold for real peers. */
export const direct = process.env.BRIDGE_PAIRS_DIRECT === '1';

/** A client and a server, each of one version, and bridge between them. */
export interface Pair {
	readonly t: ExecutionContext;
	readonly client: EraClient;
	readonly server: Version;
}

/** A conversation that the tests of a pair have one after the other: to begin one takes longer than all they say. */
interface Conversation {
	readonly between: string;
	readonly client: Promise<EraClient>;
	readonly endings: Array<() => unknown>;
}

let current: Conversation | undefined;

function begin(between: string, client: Release, server: Version): Conversation {
	const endings: Conversation['endings'] = [];
	const owner = {teardown: (end: () => unknown) => endings.unshift(end)};
	const command = serverOf(server, newMarker(owner));
	return {between, client: connect(owner, client, direct ? command : throughBridge(command)), endings};
}

async function endCurrent(): Promise<void> {
	const endings = current?.endings ?? [];
	current = undefined;
	for (const end of endings) await end();
}

test.after.always('closes the last conversation', endCurrent);

/** For tests that run one at a time. A test that fails leaves none to the next. */
export async function pairFor(t: ExecutionContext, client: Release, server: Version): Promise<Pair> {
	t.timeout(60_000);
	const between = `${client.sdk} ${server}`;
	if (current?.between !== between) await endCurrent();
	current ??= begin(between, client, server);
	t.teardown(() => (t.passed ? undefined : endCurrent()));
	return {t, client: await current.client, server};
}

/** Every result says whether it is complete in the stateless era, and never before. No modern client is sent a request. */
export function checkMessages({t, client}: Pair): void {
	const modern = isModern(client.version);
	for (const message of client.messages) {
		if (message.result) {
			t.is(message.result.resultType !== undefined, modern, JSON.stringify(message).slice(0, 300));
		}

		t.false(modern && message.method !== undefined && message.id !== undefined, message.method);
	}
}

/** The text of a result that is one block of text. */
export function textOf({content}: CallResult): string | undefined {
	return content.length === 1 && content[0]?.type === 'text' ? content[0].text : undefined;
}

/** The code of the error that a request must end with. */
export async function errorCode(work: Promise<unknown>): Promise<unknown> {
	const error: unknown = await work.then(
		() => undefined,
		(reason: unknown) => reason,
	);
	return error instanceof Error ? Reflect.get(error, 'code') : undefined;
}
