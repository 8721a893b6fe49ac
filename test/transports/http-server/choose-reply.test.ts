import type {ServerResponse} from 'node:http';
import test from 'ava';
import {bridgeOrigin, Envelope} from '../../../lib/core/envelope.js';
import {chooseReply} from '../../../lib/transports/http-server/choose-reply.js';
import {HttpReply} from '../../../lib/transports/http-server/http-reply.js';

const PROGRESS = 'notifications/progress';

/** A reply to a request with this token, as text. `read` counts the accesses to the bytes of the request. */
function replyTo(id: number, token: string) {
	const json = `{"jsonrpc":"2.0","id":${id},"method":"a","params":{"_meta":{"progressToken":${token}}}}`;
	const request = Envelope.received(Buffer.from(`${json}\n`), bridgeOrigin);
	const {bytes, line} = request;
	let read = 0;
	const counted = (value: Buffer) => ({
		get: () => {
			read++;
			return value;
		},
	});
	Object.defineProperties(request, {bytes: counted(bytes), line: counted(line)});
	const reply = new HttpReply({
		number: id,
		buffer: undefined,
		onSlow: () => {},
		response: {} as ServerResponse,
		request,
		accepts: {json: true, events: true},
		headers: () => ({}),
		acceptsPriming: () => false,
		statusOf: () => 200,
	});
	return {reply, read: () => read};
}

const progress = (token: string): Envelope =>
	Envelope.fromText(`{"jsonrpc":"2.0","method":"${PROGRESS}","params":{"progressToken":${token}}}`);

test('finds the reply of a progress notification without parsing the pending requests [SEC-D11]', t => {
	const all = ['1', '"1"', '"b"'].map((token, at) => replyTo(at, token));
	const replies = all.map(({reply}) => reply);
	const before = all.map(({read}) => read());
	const find = (token: string) => chooseReply(progress(token), PROGRESS, replies, () => undefined);
	t.is(find('"1"')?.reply, replies[1]);
	t.is(find('"b"')?.reply, replies[2]);
	t.is(find('1')?.reply, replies[0]);
	t.is(find('2'), undefined);
	t.deepEqual(
		all.map(({read}) => read()),
		before,
	);
});

test('stores a long progress token as a short key [SEC-D5]', t => {
	const token = `"${'x'.repeat(100_000)}"`;
	const {reply} = replyTo(1, token);
	t.true((reply.tokenKey?.length ?? Number.POSITIVE_INFINITY) < 100);
	t.is(chooseReply(progress(token), PROGRESS, [reply], () => undefined)?.reply, reply);
});
