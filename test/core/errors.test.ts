import test from 'ava';
import {BridgeError, type ErrorCode, errorCodes} from '../../lib/core/errors.js';

/** The documented codes of all errors. */
const documented: {readonly [code in ErrorCode]: readonly [rpc: number, kind: string, exit: number]} = {
	ERR_CONFIG_INVALID: [-32_600, 'invalid_request', 2],
	ERR_CONFIG_UNTRUSTED: [-32_600, 'invalid_request', 2],
	ERR_COMMAND_UNUSABLE: [-31_001, 'upstream_unavailable', 2],
	ERR_UPSTREAM_UNREACHABLE: [-31_001, 'upstream_unavailable', 1],
	ERR_UPSTREAM_INVALID: [-31_001, 'upstream_unavailable', 1],
	ERR_UPSTREAM_TIMEOUT: [-31_002, 'timeout', 1],
	ERR_SESSION_BUSY: [-31_003, 'overloaded', 1],
	ERR_CHILD_EXITED: [-31_004, 'child_exited', 1],
	ERR_SESSION_CLOSED: [-31_005, 'closed', 1],
	ERR_SESSION_STALLED: [-31_005, 'closed', 1],
	ERR_REQUEST_CANCELLED: [-31_006, 'cancelled', 1],
	ERR_MESSAGE_TOO_LARGE: [-31_007, 'too_large', 1],
	ERR_MESSAGE_MALFORMED: [-32_700, 'parse_error', 1],
	ERR_MAIL_ADDRESS: [-32_602, 'unknown_recipient', 2],
	ERR_MAIL_UNREADABLE: [-32_603, 'inbox_unreadable', 1],
	ERR_MESSAGE_INVALID: [-32_600, 'invalid_request', 1],
	ERR_REQUEST_UNRECORDED: [-32_602, 'not_recorded', 1],
	ERR_METHOD_UNRECORDED: [-32_601, 'not_recorded', 1],
};

for (const [name, [rpc, kind, exit]] of Object.entries(documented)) {
	const code = name as ErrorCode;
	test(`maps ${code} to the JSON-RPC code ${rpc}, the kind ${kind} and the exit status ${exit}`, t => {
		const error = new BridgeError(code, 'It broke.', 'Fix it.');
		t.deepEqual(error.toRpc(), {code: rpc, message: 'It broke. Fix it.', data: {source: 'bridge', kind}});
		t.is(error.exitCode, exit);
	});
}

test('documents all errors', t => {
	t.deepEqual(new Set(Object.keys(errorCodes)), new Set(Object.keys(documented)));
});

test('puts the remedy after the message', t => {
	t.is(new BridgeError('ERR_MESSAGE_INVALID', 'It broke.', 'Fix it.').sentence, 'It broke. Fix it.');
});

test('adds details to the data of the JSON-RPC error', t => {
	const {data} = new BridgeError('ERR_CHILD_EXITED', 'a', 'b', {exitCode: null, signal: 'SIGKILL'}).toRpc();
	t.deepEqual(data, {source: 'bridge', kind: 'child_exited', exitCode: null, signal: 'SIGKILL'});
});

test('is an error with a name, a code and a stack', t => {
	const error = new BridgeError('ERR_SESSION_BUSY', 'It broke.', 'Fix it.');
	t.true(error instanceof Error);
	t.like(error, {name: 'BridgeError', code: 'ERR_SESSION_BUSY', message: 'It broke.'});
	t.regex(error.stack ?? '', /errors\.test/);
});
