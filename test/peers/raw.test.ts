import test, {type ExecutionContext} from 'ava';
import type {Ending} from './line-client.js';
import {type Command, everything, node24, throughBridge} from './peers.js';
import {newMarker, survivorsOf} from './processes.js';
import {converse, opening, requests} from './raw-lines.js';

/** Sends one request at a time, so that the order of the responses is deterministic. */
async function oneByOne(t: ExecutionContext, command: Command): Promise<Ending> {
	const client = await converse(t, command, requests);
	return client.close();
}

/** Sends all requests in one stream, split every `size` bytes regardless of lines and characters. */
async function inPieces(t: ExecutionContext, command: Command, size: number): Promise<Ending> {
	const client = await converse(t, command, []);
	const bytes = Buffer.from(requests.map(line => `${line}\n`).join(''));
	for (let at = 0; at < bytes.length; at += size) {
		client.write(bytes.subarray(at, at + size));
	}

	await client.received(opening.length + requests.length);
	const ending = await client.close();
	// The server's response order depends on how much it reads at once, with and without bridge.
	return {
		...ending,
		stdout: Buffer.from(ending.stdout.toString('latin1').split('\n').sort().join('\n'), 'latin1'),
	};
}

async function sameBytes(
	t: ExecutionContext,
	session: typeof oneByOne,
	node = process.execPath,
): Promise<void> {
	t.timeout(60_000);
	const marker = newMarker(t);
	const server = everything(marker, node);
	const direct = await session(t, server);
	const through = await session(t, throughBridge(server, node));
	t.is(through.stdout.toString(), direct.stdout.toString());
	// Texts could be equal after the same characters were replaced in both.
	t.true(through.stdout.equals(direct.stdout));
	t.deepEqual([through.code, through.signal], [direct.code, direct.signal]);
	t.deepEqual(
		direct.stderr.split('\n').filter(line => !through.stderr.split('\n').includes(line)),
		[],
		'forwards the stderr of the server',
	);
	t.deepEqual(await survivorsOf(marker), []);
}

test.serial('forwards each response of server-everything byte for byte', sameBytes, oneByOne);

test.serial(
	'returns the same bytes as without bridge when requests are split at any position',
	sameBytes,
	(t, command) => inPieces(t, command, 1021),
);

test.serial('returns the same bytes when bridge and the server run on Node 24', sameBytes, oneByOne, node24);
