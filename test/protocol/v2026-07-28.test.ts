import test from 'ava';
import {
	haveUnsupportedValues,
	isStatelessRequest,
	requestMetaError,
	requestMetaOf,
	toDiscoverResult,
	toHandshakeNotification,
	toHandshakeResult,
	toInitializeResult,
	toInputRequest,
	toServerRequestParams,
	toStatelessError,
	toStatelessResult,
	withoutRequestMeta,
	withRequestMeta,
} from '../../lib/protocol/v2026-07-28.js';
import {clientInfo, envelope, serverInfo} from '../helpers/version-stages.js';

const META = 'io.modelcontextprotocol/';

test('recognizes a stateless request by its method or its _meta', t => {
	t.true(isStatelessRequest('server/discover', undefined));
	t.true(isStatelessRequest('tools/list', {_meta: {[`${META}protocolVersion`]: 5}}));
	t.true(isStatelessRequest('tools/list', {_meta: {[`${META}clientCapabilities`]: undefined}}));
});

test('does not classify any other request as stateless', t => {
	for (const params of [undefined, null, [], 'x', {}, {_meta: null}, {_meta: {progressToken: 1}}])
		t.false(isStatelessRequest('tools/list', params));
	t.false(isStatelessRequest(undefined, {}));
	t.false(
		isStatelessRequest('tools/list', {_meta: {[`${META}clientInfo`]: {}, [`${META}logLevel`]: 'info'}}),
	);
});

test('requires a supported version and capabilities in the envelope', t => {
	t.is(requestMetaError({_meta: envelope()}), undefined);
	t.like(requestMetaError({_meta: envelope({}, {[`${META}protocolVersion`]: undefined})}), {code: -32602});
	t.like(requestMetaError({_meta: {[`${META}protocolVersion`]: '2026-07-28'}}), {code: -32602});
	t.like(requestMetaError(null), {code: -32602});
	t.deepEqual(requestMetaError({_meta: envelope({}, {[`${META}protocolVersion`]: 7})}), {
		code: -32022,
		message: 'Unsupported protocol version: 7',
		data: {requested: 7, supported: ['2026-07-28']},
	});
});

test('uses defaults for a missing client name and log level', t => {
	t.deepEqual(requestMetaOf({_meta: {[`${META}clientInfo`]: 'x', [`${META}logLevel`]: 5}}), {
		info: {name: 'unknown', version: '0'},
		capabilities: {},
		logLevel: undefined,
	});
	t.deepEqual(requestMetaOf({_meta: envelope({roots: {}}, {[`${META}logLevel`]: 'info'})}), {
		info: clientInfo,
		capabilities: {roots: {}},
		logLevel: 'info',
	});
});

test('restores params when the envelope is removed', t => {
	for (const params of [{}, {a: 1}, {a: 1, _meta: {progressToken: 1}}])
		t.deepEqual(
			withoutRequestMeta(withRequestMeta(params, {info: clientInfo, capabilities: {}, logLevel: 'info'})),
			params,
		);
});

test('returns params without an envelope as the same object', t => {
	for (const params of [{a: 1}, {_meta: {x: 1}}, {_meta: 5}]) t.is(withoutRequestMeta(params), params);
});

test('omits capabilities that stateless servers do not have', t => {
	const capabilities = {tasks: {}, roots: {listChanged: true}, sampling: {}};
	const params = withRequestMeta({task: {}, a: 1}, {info: clientInfo, capabilities});
	t.deepEqual(params, {a: 1, _meta: envelope({roots: {}, sampling: {}})});
	t.like(withRequestMeta({}, {info: clientInfo, capabilities: {roots: 5}}), {_meta: envelope({roots: 5})});
});

test('preserves capabilities that the stateless schema has no type for', t => {
	const capabilities = {experimental: {x: {a: null, b: 0.5, c: [1, null, 'd']}}, sampling: {}};
	const params = withRequestMeta({a: 1}, {info: clientInfo, capabilities});
	t.deepEqual(params._meta, {
		...envelope({experimental: {x: {c: [1, 'd']}}, sampling: {}}),
		'io.bridge/original': {
			'/_meta/io.modelcontextprotocol~1clientCapabilities/experimental/x/a': null,
			'/_meta/io.modelcontextprotocol~1clientCapabilities/experimental/x/b': 0.5,
			'/_meta/io.modelcontextprotocol~1clientCapabilities/experimental/x/c': [1, null, 'd'],
		},
	});
	t.deepEqual(requestMetaOf(params).capabilities, capabilities);
	t.deepEqual(withoutRequestMeta(params), {a: 1});
});

test('keeps other originals when the envelope is removed', t => {
	const kept = {'io.bridge/original': {'/content': []}};
	t.deepEqual(withoutRequestMeta({_meta: {...envelope(), ...kept}}), {_meta: kept});
});

test('adds a missing client name and version', t => {
	t.like(withRequestMeta({}, {info: {}, capabilities: {}}), {
		_meta: {[`${META}clientInfo`]: {name: 'unknown', version: '0'}},
	});
	t.like(withRequestMeta({}, {info: {name: 'a', version: 2}, capabilities: {}}), {
		_meta: {[`${META}clientInfo`]: {name: 'a', version: '2'}},
	});
});

test('adds server information only if it is known, and keeps an existing result type', t => {
	t.deepEqual(toStatelessResult('tools/call', {a: 1}, undefined), {resultType: 'complete', a: 1, _meta: {}});
	t.is(toStatelessResult('x', {resultType: 'other'}, serverInfo).resultType, 'other');
});

test('converts a stateless result to a handshake result', t => {
	const result = {a: 1, _meta: {x: 1}};
	t.deepEqual(toHandshakeResult({...toStatelessResult('tools/list', result, serverInfo)}), result);
	t.deepEqual(toHandshakeResult({...toStatelessResult('tools/list', {}, serverInfo)}), {});
	t.is(toHandshakeResult(result), result);
});

test('returns a notification without a subscription as the same object', t => {
	for (const body of [{method: 'a'}, {method: 'a', params: {}}, {method: 'a', params: {_meta: {x: 1}}}])
		t.is(toHandshakeNotification(body), body);
});

test('replaces only the obsolete error code', t => {
	const error = {code: -32602, message: 'a'};
	t.is(toStatelessError(error), error);
	t.deepEqual(toStatelessError({...error, code: -32002}), error);
});

test('omits tasks and absent instructions from a discover result', t => {
	const result = toDiscoverResult({capabilities: {tasks: {}, tools: {}}});
	t.deepEqual(result.capabilities, {tools: {}});
	t.false('instructions' in result);
	t.is(toDiscoverResult({instructions: 'i'}).instructions, 'i');
});

test('preserves values in a discover result that the schema has no type for', t => {
	const capabilities = {tools: {}, logging: {x: null, 'a/b~': 1.5}};
	t.true(haveUnsupportedValues(capabilities));
	t.false(haveUnsupportedValues({tools: {}}));
	const result = toDiscoverResult({capabilities, serverInfo});
	t.deepEqual(result.capabilities, {tools: {}, logging: {}});
	t.deepEqual(result._meta, {
		[`${META}serverInfo`]: serverInfo,
		'io.bridge/original': {'/capabilities/logging/x': null, '/capabilities/logging/a~1b~0': 1.5},
	});
	t.deepEqual(toInitializeResult(result, {}).capabilities, capabilities);
});

test('includes extensions only for clients that declare some', t => {
	const capabilities = {extensions: {x: {}}};
	t.deepEqual(toInitializeResult({capabilities}, {}).capabilities, {});
	t.deepEqual(toInitializeResult({capabilities}, {extensions: {}}).capabilities, capabilities);
});

test('omits empty params of an input request', t => {
	t.deepEqual(toInputRequest('roots/list', {_meta: {}}), {method: 'roots/list'});
	t.deepEqual(toInputRequest('roots/list', undefined), {method: 'roots/list'});
});

test('adds an id only to elicitation by URL', t => {
	t.deepEqual(toServerRequestParams('elicitation/create', {mode: 'url'}, 'e'), {
		mode: 'url',
		elicitationId: 'e',
	});
	t.deepEqual(toServerRequestParams('elicitation/create', {mode: 'form'}, 'e'), {mode: 'form'});
	t.deepEqual(toServerRequestParams('roots/list', undefined, 'e'), {});
});
