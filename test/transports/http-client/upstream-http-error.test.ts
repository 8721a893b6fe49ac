import test from 'ava';
import {Envelope, type MessageOrigin} from '../../../lib/core/envelope.js';
import {Valve} from '../../../lib/core/valve.js';
import {
	failedRequestResponse,
	upstreamHttpError,
} from '../../../lib/transports/http-client/upstream-http-error.js';

const body = Buffer.from('no');
const remote = {name: 'remote', url: new URL('https://remote.example/mcp')};

test('forwards status, body and selected headers of an HTTP error to the client [D5]', t => {
	const headers = {
		'www-authenticate': 'Bearer',
		'retry-after': '7',
		'content-type': 'text/plain',
		allow: 'GET',
		'set-cookie': ['a=b'],
		connection: 'close',
		'content-length': '2',
		location: '/x',
	};
	t.deepEqual(upstreamHttpError(remote, {status: 503, headers: headers, body}).errorReply, {
		status: 503,
		headers: {'www-authenticate': 'Bearer', 'retry-after': '7', 'content-type': 'text/plain', allow: 'GET'},
		body,
	});
});

test('suggests configuring credentials for status 401 [D5]', t => {
	t.regex(
		upstreamHttpError(remote, {status: 401, headers: {}, body}).error.sentence,
		/status 401\. Configure the credentials/,
	);
	t.regex(
		upstreamHttpError(remote, {status: 500, headers: {}, body}).error.sentence,
		/status 500\. Check its address/,
	);
});

test('reports the origin of a redirect to another origin, and the path of one to the same origin [A-G6] [D6]', t => {
	const {error} = upstreamHttpError(remote, {
		status: 302,
		headers: {location: 'https://user:secret@other.example/path?token=x'},
		body,
	});
	t.regex(
		error.message,
		/status 302, a redirect to https:\/\/other\.example; only 307 and 308 to the same origin are followed/,
	);
	t.regex(
		upstreamHttpError(remote, {status: 307, headers: {location: '/secret'}, body}).error.message,
		/a redirect to https:\/\/remote\.example\/secret;/,
	);
	t.notRegex(
		upstreamHttpError(remote, {status: 201, headers: {location: '/secret'}, body}).error.message,
		/redirect/,
	);
});

test('responds only to a failed request, with the valve of its origin', t => {
	const origin: MessageOrigin = {name: 'client', valve: new Valve()};
	const failure = upstreamHttpError(remote, {status: 500, headers: {}, body});
	const request = Envelope.fromText('{"jsonrpc":"2.0","id":"a","method":"x"}', origin);
	const response = failedRequestResponse(request, 'remote', failure);
	t.like(response?.body, {id: 'a', error: {code: -31_001, data: {status: 500}}});
	t.is(response?.origin.valve, origin.valve);
	t.is(response?.origin.errorReply, failure.errorReply);
	t.is(
		failedRequestResponse(Envelope.fromText('{"jsonrpc":"2.0","method":"x"}'), 'remote', failure),
		undefined,
	);
	t.is(
		failedRequestResponse(Envelope.fromText('{"jsonrpc":"2.0","id":1,"result":1}'), 'remote', failure),
		undefined,
	);
});

test('does not forward a redirect to the client [D6]', t => {
	const failure = upstreamHttpError(remote, {status: 307, headers: {location: '/secret'}, body});
	const response = failedRequestResponse(
		Envelope.fromText('{"jsonrpc":"2.0","id":1,"method":"x"}'),
		'remote',
		failure,
	);
	t.like(response?.body, {id: 1, error: {code: -31_001}});
	t.is(response?.origin.errorReply, undefined);
});
