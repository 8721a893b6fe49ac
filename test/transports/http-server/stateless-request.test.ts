import test from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {ToolHeaderParameters} from '../../../lib/protocol/tool-header-parameters.js';
import {
	isStatelessPost,
	validateStatelessPost,
} from '../../../lib/transports/http-server/stateless-request.js';

const modern = '2026-07-28';
const meta = (version: string) => ({
	'io.modelcontextprotocol/protocolVersion': version,
	'io.modelcontextprotocol/clientCapabilities': {},
});
const ask = (method: string, params: object) => Envelope.of({jsonrpc: '2.0', id: 1, method, params});

test('A request whose header and message name two versions is a mismatch, even if one of them is unknown', t => {
	const request = ask('tools/list', {_meta: meta('v999')});
	t.like(validateStatelessPost(request, {'mcp-protocol-version': modern, 'mcp-method': 'tools/list'}), {
		status: 400,
		code: -32020,
	});
});

test('A request whose header and message name the same unknown version is told which ones there are', t => {
	const request = ask('tools/list', {_meta: meta('v999')});
	t.like(validateStatelessPost(request, {'mcp-protocol-version': 'v999', 'mcp-method': 'tools/list'}), {
		status: 400,
		code: -32022,
		data: {requested: 'v999', supported: [modern]},
	});
});

test('A request without a version in it is told what is missing', t => {
	const headers = {'mcp-protocol-version': modern, 'mcp-method': 'tools/list'};
	t.like(validateStatelessPost(ask('tools/list', {}), headers), {status: 400, code: -32602});
});

test('A handshake in the words of the era that has none is not found', t => {
	const request = ask('initialize', {_meta: meta(modern)});
	const headers = {'mcp-protocol-version': modern, 'mcp-method': 'initialize'};
	t.true(isStatelessPost(request, headers));
	t.like(validateStatelessPost(request, headers), {status: 404, code: -32601});
});

test('A handshake of a client that only names the version in a header is a handshake', t => {
	const request = ask('initialize', {protocolVersion: modern, capabilities: {}});
	t.false(isStatelessPost(request, {'mcp-protocol-version': modern}));
});

test('checks a POST without a session, and its headers, without parsing the whole body [SEC-D11]', t => {
	const unparsed = (params: object) =>
		Object.defineProperty(ask('tools/call', params), 'body', {
			get: () => t.fail('The body was parsed.'),
		});
	const large = {name: 'a', arguments: {list: new Array(10_000).fill({})}};
	const headers = {'mcp-protocol-version': modern, 'mcp-method': 'tools/call', 'mcp-name': 'a'};
	t.false(isStatelessPost(unparsed(large), {}));
	t.true(isStatelessPost(unparsed({...large, _meta: meta(modern)}), {}));
	t.is(
		validateStatelessPost(unparsed({...large, _meta: meta(modern)}), headers, new ToolHeaderParameters()),
		undefined,
	);
	t.like(validateStatelessPost(unparsed({...large, name: 'b', _meta: meta(modern)}), headers), {
		code: -32020,
	});
});

test('shortens a value over the limit in the error about a header [SEC-D11]', t => {
	const request = ask('tools/call', {name: 'n'.repeat(100_000), _meta: meta(modern)});
	const headers = {'mcp-protocol-version': modern, 'mcp-method': 'tools/call', 'mcp-name': 'n'};
	const problem = validateStatelessPost(request, headers);
	t.is(problem?.code, -32020);
	t.true((problem?.message.length ?? Number.POSITIVE_INFINITY) < 400);
});
