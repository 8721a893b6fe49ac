import {PassThrough} from 'node:stream';
import test from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {stdioEndpoint} from '../../../lib/transports/stdio/stdio.js';
import {until} from '../../helpers/pipeline.js';

const start = (maxBytes = 1000) => {
	const [input, output] = [new PassThrough(), new PassThrough()];
	const stdio = stdioEndpoint({name: 'client', maxBytes, input, output});
	const received: Envelope[] = [];
	stdio.incoming.subscribe({next: envelope => received.push(envelope), error: () => {}});
	return {stdio, input, output, received};
};

test.serial('reads messages from its input', async t => {
	const {input, received} = start();
	input.write('{"id":1}\n{"id"');
	input.write(':2}\n');
	await until(() => received.length === 2);
	t.deepEqual(
		received.map(({bytes, origin}) => [bytes.toString(), origin.name]),
		[
			['{"id":1}', 'client'],
			['{"id":2}', 'client'],
		],
	);
});

test.serial('writes lines to a client that sends lines', async t => {
	const {stdio, input, output, received} = start();
	input.write('{"id":1}\n');
	await until(() => received.length === 1);
	stdio.outgoing.next(Envelope.of({id: 1}));
	await until(() => output.readableLength > 0);
	t.is(String(output.read()), '{"id":1}\n');
});

test.serial('writes Content-Length frames to a client that sends them', async t => {
	const {stdio, input, output, received} = start();
	input.write('Content-Length: 8\r\n\r\n{"id":1}');
	await until(() => received.length === 1);
	stdio.outgoing.next(Envelope.of({id: 1}));
	await until(() => output.readableLength > 0);
	t.is(String(output.read()), 'Content-Length: 8\r\n\r\n{"id":1}');
});

test.serial('writes lines to a client that has not sent a message yet', async t => {
	const {stdio, output} = start();
	stdio.outgoing.next(Envelope.of({id: 1}));
	await until(() => output.readableLength > 0);
	t.is(String(output.read()), '{"id":1}\n');
});

test.serial('continues after a message over the limit', async t => {
	const {input, received} = start(10);
	input.write(`{"id":"${'x'.repeat(100)}"}\n{"id":2}\n`);
	await until(() => received.length === 2);
	t.is(received[0]?.head.flaw, 'too large');
	t.is(received[1]?.bytes.toString(), '{"id":2}');
});

test.serial('detects the end of its input under backpressure', async t => {
	const {stdio, input} = start();
	stdio.incoming.subscribe(({origin}) => void origin.valve.shut());
	input.write('{}\n');
	input.write('{}\n'.repeat(1000));
	input.end();
	await stdio.inputEnded;
	t.pass();
});

test.serial('resolves disconnected when its output breaks', async t => {
	const {stdio, output} = start();
	output.destroy(Object.assign(new Error('write EPIPE'), {code: 'EPIPE'}));
	await stdio.disconnected;
	t.pass();
});

test.serial('writes all messages before it is closed', async t => {
	const {stdio, output} = start();
	stdio.outgoing.next(Envelope.of({id: 1}));
	await until(() => output.readableLength > 0);
	const text = output.toArray();
	await stdio.close();
	output.end();
	t.is((await text).map(String).join(''), '{"id":1}\n');
});
