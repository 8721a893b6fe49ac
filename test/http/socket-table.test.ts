import {once} from 'node:events';
import {connect, createServer, type Socket} from 'node:net';
import {endianness} from 'node:os';
import process from 'node:process';
import test from 'ava';
import fc from 'fast-check';
import {ownerProblem, PeerOwners} from '../../lib/http/same-user.js';
import {parseRow, socketKey} from '../../lib/http/socket-table.js';

/** Lines of Linux 6 on x64, one socket each, with the expected rows. */
const recorded = [
	[
		'   7: 0100007F:D4F2 0100007F:1CF3 01 00000000:00000000 00:00000000 00000000  1000        0 51707 1 0000000088ef01ec 20 4 30 10 -1',
		{key: '0100007F:D4F2 0100007F:1CF3', row: {uid: 1000, inode: 51707}},
	],
	[
		' 134: 0100007F:D4F2 0100007F:1CF3 05 00000000:00000000 03:00000DA2 00000000     0        0 0 3 0000000000000000                  ',
		{key: '0100007F:D4F2 0100007F:1CF3', row: {uid: 0, inode: 0}},
	],
	[
		'1042: 00000000000000000000000001000000:B2C4 00000000000000000000000001000000:1CF3 01 00000000:00000000 00:00000000 00000000 65534        0 9921 1 0000000000000000 20 4 1 10 -1',
		{
			key: '00000000000000000000000001000000:B2C4 00000000000000000000000001000000:1CF3',
			row: {uid: 65_534, inode: 9921},
		},
	],
	[
		'   3: 0000000000000000FFFF00000100007F:9A10 0000000000000000FFFF00000100007F:1CF3 08 00000000:0000001F 00:00000000 00000000    33        0 4294967295 1 0000000000000000 20 4 1 10 -1',
		{key: '0100007F:9A10 0100007F:1CF3', row: {uid: 33, inode: 4_294_967_295}},
	],
] as const;

const [own, closed] = [recorded[0][1].row, recorded[1][1].row];

if (endianness() === 'LE')
	test('reads rows of /proc/net/tcp and tcp6, and IPv4 addresses among those of IPv6 [SEC-D3]', t => {
		for (const [line, row] of recorded) t.deepEqual(parseRow(line), row);
		t.is(
			parseRow(
				'  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
			),
			undefined,
		);
		const ends = {localAddress: '127.0.0.1', localPort: 54_514, remoteAddress: '127.0.0.1', remotePort: 7411};
		t.is(socketKey(ends), recorded[0][1].key);
		const mapped = {...ends, localAddress: '::ffff:127.0.0.1', remoteAddress: '::FFFF:127.0.0.1'};
		t.is(socketKey(mapped), recorded[0][1].key);
		const six = {localAddress: '::1', localPort: 45_764, remoteAddress: '::1', remotePort: 7411};
		t.is(socketKey(six), recorded[2][1].key);
	});

test('has no key for a missing address, or one that is not loopback [SEC-D3]', t => {
	for (const localAddress of ['', '2001:db8::1', 'localhost', '::ffff:2001:db8::1'])
		t.is(socketKey({localAddress, localPort: 1, remoteAddress: '127.0.0.1', remotePort: 2}), undefined);
});

test('accepts a socket of this user or of root, and no socket that is closed [SEC-D3]', t => {
	t.is(ownerProblem(own, 1000), undefined);
	t.is(ownerProblem({uid: 0, inode: 12}, 1000), undefined);
	t.regex(ownerProblem(own, 1001) ?? '', /another user \(uid 1000\)/);
	t.regex(ownerProblem(own, 0) ?? '', /another user/);
	t.regex(ownerProblem(closed, 1000) ?? '', /closed its connection/);
	t.regex(ownerProblem(closed, 0) ?? '', /closed its connection/);
	t.regex(ownerProblem({uid: 1000, inode: 0}, 1000) ?? '', /closed its connection/);
	t.regex(ownerProblem(undefined, 1000) ?? '', /could not be found/);
});

test('no line makes the parser throw, or return a socket that does not exist [SEC-D3]', t => {
	fc.assert(
		fc.property(fc.string({unit: 'binary-ascii'}), text => {
			t.is(parseRow(text), undefined);
		}),
	);
	const cut = recorded.flatMap(([line]) => [line.slice(0, 60), line.slice(20), line.replaceAll(':', '')]);
	for (const line of cut) t.is(parseRow(line), undefined, line);
});

for (const [host, client] of [
	['127.0.0.1', '127.0.0.1'],
	['127.0.0.1', '::ffff:127.0.0.1'],
	['127.8.7.6', '127.8.7.6'],
	['::1', '::1'],
] as const)
	test(`finds the owner of a connection from ${client} to ${host} [SEC-D3]`, async t => {
		const server = createServer({allowHalfOpen: true});
		t.teardown(() => server.close());
		const isListening = await new Promise<boolean>(resolve => {
			server.once('error', () => resolve(false));
			server.listen(0, host, () => resolve(true));
		});
		// Not on a machine without IPv6.
		if (!isListening) return t.pass();
		const address = server.address();
		const port = typeof address === 'object' && address ? address.port : 0;
		const socket = connect(port, client);
		const [[accepted]] = (await Promise.all([once(server, 'connection'), once(socket, 'connect')])) as [
			[Socket],
			unknown,
		];
		t.teardown(() => accepted.destroy());
		const {localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0} = accepted;
		const key = socketKey({
			localAddress: remoteAddress,
			localPort: remotePort,
			remoteAddress: localAddress,
			remotePort: localPort,
		});
		// One read may miss a socket while others are opened and closed, so PeerOwners reads up to three times.
		const find = () => new PeerOwners().find(key ?? '');
		t.is((await find())?.uid, process.geteuid?.());
		t.true(((await find())?.inode ?? 0) > 0);
		t.is(ownerProblem(await find(), process.geteuid?.()), undefined);
		const ended = once(accepted.resume(), 'end');
		socket.destroy();
		await ended;
		t.regex(
			ownerProblem(await find(), process.geteuid?.()) ?? '',
			/closed its connection|could not be found/,
		);
		return;
	});
