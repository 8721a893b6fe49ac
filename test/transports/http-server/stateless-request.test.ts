import test from 'ava';
import {Envelope} from '../../../lib/core/envelope.js';
import {ToolHeaderParameters} from '../../../lib/protocol/tool-header-parameters.js';
import {
	isStatelessPost,
	validateStatelessPost,
} from '../../../lib/transports/http-server/stateless-request.js';

const stateless = '2026-07-28';
const meta = (version: string) => ({
	'io.modelcontextprotocol/protocolVersion': version,
	'io.modelcontextprotocol/clientCapabilities': {},
});
const requestOf = (method: string, params: object) => Envelope.of({jsonrpc: '2.0', id: 1, method, params});

test('reports a mismatch of the versions in header and message, even if one is unknown', t => {
	const request = requestOf('tools/list', {_meta: meta('v999')});
	t.like(validateStatelessPost(request, {'mcp-protocol-version': stateless, 'mcp-method': 'tools/list'}), {
		status: 400,
		code: -32020,
	});
});

test('reports the supported versions to a request with an unknown one', t => {
	const request = requestOf('tools/list', {_meta: meta('v999')});
	t.like(validateStatelessPost(request, {'mcp-protocol-version': 'v999', 'mcp-method': 'tools/list'}), {
		status: 400,
		code: -32022,
		data: {requested: 'v999', supported: [stateless]},
	});
});

test('rejects a request without a version in the message', t => {
	const headers = {'mcp-protocol-version': stateless, 'mcp-method': 'tools/list'};
	t.like(validateStatelessPost(requestOf('tools/list', {}), headers), {status: 400, code: -32602});
});

test('rejects initialize with stateless metadata as not found', t => {
	const request = requestOf('initialize', {_meta: meta(stateless)});
	const headers = {'mcp-protocol-version': stateless, 'mcp-method': 'initialize'};
	t.true(isStatelessPost(request, headers));
	t.like(validateStatelessPost(request, headers), {status: 404, code: -32601});
});

test('accepts initialize with the stateless version in the header only', t => {
	const request = requestOf('initialize', {protocolVersion: stateless, capabilities: {}});
	t.false(isStatelessPost(request, {'mcp-protocol-version': stateless}));
});

test('validates a POST without a session without parsing the whole body [SEC-D11]', t => {
	const unparsed = (params: object) =>
		Object.defineProperty(requestOf('tools/call', params), 'body', {
			get: () => t.fail('The body was parsed.'),
		});
	const large = {name: 'a', arguments: {list: new Array(10_000).fill({})}};
	const headers = {'mcp-protocol-version': stateless, 'mcp-method': 'tools/call', 'mcp-name': 'a'};
	t.false(isStatelessPost(unparsed(large), {}));
	t.true(isStatelessPost(unparsed({...large, _meta: meta(stateless)}), {}));
	t.is(
		validateStatelessPost(unparsed({...large, _meta: meta(stateless)}), headers, new ToolHeaderParameters()),
		undefined,
	);
	t.like(validateStatelessPost(unparsed({...large, name: 'b', _meta: meta(stateless)}), headers), {
		code: -32020,
	});
});

test('shortens a value over the limit in a header mismatch error [SEC-D11]', t => {
	const request = requestOf('tools/call', {name: 'n'.repeat(100_000), _meta: meta(stateless)});
	const headers = {'mcp-protocol-version': stateless, 'mcp-method': 'tools/call', 'mcp-name': 'n'};
	const error = validateStatelessPost(request, headers);
	t.is(error?.code, -32020);
	t.true((error?.message.length ?? Number.POSITIVE_INFINITY) < 400);
});
