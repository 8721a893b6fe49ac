import test from 'ava';
import {PeerOwners} from '../../lib/http/same-user.js';
import type {SocketRow, SocketRows} from '../../lib/http/socket-table.js';

/** A table whose reads are ended by the test. */
function slowTable() {
	const reads: Array<{readonly wanted: string[]; readonly end: (found: SocketRows) => void}> = [];
	const find = (wanted: ReadonlySet<string>): Promise<SocketRows> =>
		new Promise(end => reads.push({wanted: [...wanted], end}));
	return {reads, owners: new PeerOwners(find)};
}

const own: SocketRow = {uid: 1000, inode: 7};
const none: SocketRows = new Map();

/** Runs the callbacks of all settled promises. */
const settle = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

test('waiting connections share one read, and later connections get the next one [SEC-D19]', async t => {
	const {reads, owners} = slowTable();
	const first = owners.find('a');
	const later = [owners.find('b'), owners.find('c'), owners.find('b')];
	t.deepEqual(
		reads.map(({wanted}) => wanted),
		[['a']],
	);
	// This read has all rows, but began before the other lookups.
	reads[0]?.end(new Map(['a', 'b', 'c'].map(key => [key, own])));
	t.is(await first, own);
	await settle();
	t.deepEqual(
		reads.map(({wanted}) => wanted),
		[['a'], ['b', 'c']],
	);
	reads[1]?.end(
		new Map([
			['b', own],
			['c', {uid: 0, inode: 0}],
		]),
	);
	t.deepEqual(await Promise.all(later), [own, {uid: 0, inode: 0}, own]);
	await settle();
	t.is(reads.length, 2);
});

test('a connection that a read misses is looked up three times [SEC-D19]', async t => {
	const {reads, owners} = slowTable();
	const [missed, found] = [owners.find('a'), owners.find('b')];
	reads[0]?.end(none);
	await settle();
	reads[1]?.end(none);
	await settle();
	reads[2]?.end(none);
	t.is(await missed, undefined);
	await settle();
	reads[3]?.end(new Map([['b', own]]));
	t.is(await found, own);
	await settle();
	t.is(reads.length, 4);
});

test('without a table, the owner is unknown, and the next connection is looked up again [SEC-D19]', async t => {
	let reads = 0;
	const owners = new PeerOwners(async () => {
		reads++;
		throw new Error('EACCES');
	});
	t.is(await owners.find('a'), undefined);
	t.is(await owners.find('b'), undefined);
	t.is(reads, 2);
});
