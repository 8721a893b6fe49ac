import test, {type ExecutionContext} from 'ava';
import type {CallResult, EraClient} from './era-client.js';
import {connect} from './era-clients.js';
import {isModern, type Release, serverOf, type Version} from './eras.js';
import {throughBridge} from './peers.js';
import {newMarker} from './processes.js';

/**
 * For the development of these tests: connects without bridge, to check the expectations against real
 * peers.
 */
export const direct = process.env.BRIDGE_PAIRS_DIRECT === '1';

/** A client and a server of one version each, with bridge between them. */
export interface Pair {
	readonly t: ExecutionContext;
	readonly client: EraClient;
	readonly server: Version;
}

/** A conversation that all tests of a pair share, since starting one is slower than the tests. */
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

/** Returns the pair's conversation, for serial tests. A failed test closes it. */
export async function pairFor(t: ExecutionContext, client: Release, server: Version): Promise<Pair> {
	t.timeout(60_000);
	const between = `${client.sdk} ${server}`;
	if (current?.between !== between) await endCurrent();
	current ??= begin(between, client, server);
	t.teardown(() => (t.passed ? undefined : endCurrent()));
	return {t, client: await current.client, server};
}

/**
 * Checks that results have a `resultType` in the stateless era only, and that stateless clients get no
 * request.
 */
export function checkMessages({t, client}: Pair): void {
	const modern = isModern(client.version);
	for (const message of client.messages) {
		if (message.result) {
			t.is(message.result.resultType !== undefined, modern, JSON.stringify(message).slice(0, 300));
		}

		t.false(modern && message.method !== undefined && message.id !== undefined, message.method);
	}
}

/** The text of a result that has one text block. */
export function textOf({content}: CallResult): string | undefined {
	return content.length === 1 && content[0]?.type === 'text' ? content[0].text : undefined;
}

/** The error code of a request that must fail. */
export async function errorCode(work: Promise<unknown>): Promise<unknown> {
	const error: unknown = await work.then(
		() => undefined,
		(reason: unknown) => reason,
	);
	return error instanceof Error ? Reflect.get(error, 'code') : undefined;
}
