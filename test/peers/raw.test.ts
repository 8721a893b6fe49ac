import test, {type ExecutionContext} from 'ava';
import type {Ending} from './line-client.js';
import {type Command, everything, node24, throughBridge} from './peers.js';
import {newMarker, survivorsOf} from './processes.js';
import {converse, opening, requests} from './raw-lines.js';

/** One request after the other, so that the order of the answers is certain. */
async function oneByOne(t: ExecutionContext, command: Command): Promise<Ending> {
	const client = await converse(t, command, requests);
	return client.close();
}

/** All requests in one stream, cut every `size` bytes without regard to lines or characters. */
async function inPieces(t: ExecutionContext, command: Command, size: number): Promise<Ending> {
	const client = await converse(t, command, []);
	const bytes = Buffer.from(requests.map(line => `${line}\n`).join(''));
	for (let at = 0; at < bytes.length; at += size) {
		client.write(bytes.subarray(at, at + size));
	}

	await client.received(opening.length + requests.length);
	const ending = await client.close();
	// The server answers what it reads together in an order that depends on how much it read: that is not bridge's doing.
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
	// The texts would be equal too if both had the same characters replaced.
	t.true(through.stdout.equals(direct.stdout));
	t.deepEqual([through.code, through.signal], [direct.code, direct.signal]);
	t.deepEqual(
		direct.stderr.split('\n').filter(line => !through.stderr.split('\n').includes(line)),
		[],
		'stderr of the server is passed on',
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
