import test from 'ava';
import {bridgeOrigin, Envelope} from '../../../lib/core/envelope.js';
import {createLog} from '../../../lib/core/log.js';
import {MessageBacklog} from '../../../lib/transports/http-server/message-backlog.js';

const log = createLog({level: 'error', write: () => {}, isPretty: false});
const text = '{"jsonrpc":"2.0","method":"notifications/a"}\n';

test('copies small messages, so that their chunks can be freed [SEC-D5]', t => {
	const backlog = new MessageBacklog('client', log);
	const chunk = Buffer.alloc(65_536, text);
	backlog.add(Envelope.received(chunk.subarray(0, text.length), bridgeOrigin));
	const other = Buffer.alloc(65_536, text);
	backlog.add(Envelope.receivedInParts([chunk.subarray(0, 5), other.subarray(5, text.length)], bridgeOrigin));
	for (const {line} of backlog.takeAll()) {
		t.is(String(line), text);
		t.true(line.buffer.byteLength <= Buffer.poolSize);
	}
});
