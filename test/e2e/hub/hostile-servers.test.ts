import test from 'ava';
import {until} from '../../helpers/program.js';
import {inlineServer} from './inline-server.js';
import {errorIn, logged, startHub, textIn} from './support.js';

for (const [what, script, expected] of [
	[
		'a long text',
		`methods.initialize = (_, id) => send({id, error: {code: 1, message: 'no '.repeat(500_000)}});`,
		/^Server 'server' unavailable: server rejected initialize: (?:no ){20}/,
	],
	[
		'a long object',
		`methods.initialize = (_, id) => send({id, error: {code: 1, message: {a: 'no '.repeat(500_000)}}});`,
		/^Server 'server' unavailable: server rejected initialize: \{"a":"(?:no ){20}/,
	],
	[
		'a list error with a long text',
		`methods['tools/list'] = (_, id) => send({id, error: {code: 1, message: 'no '.repeat(500_000)}});`,
		/^Server 'server' unavailable: rejected tools\/list: (?:no ){20}/,
	],
] as const)
	test(`truncates ${what} in a connection error before it is stored [SEC-D5]`, async t => {
		const hub = await startHub(t, {expose: 'tools', servers: {server: inlineServer(script)}});
		await hub.toolNames();
		const {message} = errorIn(await hub.call('server__act'));
		t.regex(message, expected);
		t.true(message.length < 2200, `${message.length} characters`);
	});

test('rejects a result with too many values for a program without parsing it [SEC-D11]', async t => {
	const server = inlineServer(
		`methods['tools/call'] = () => ({content: [], structuredContent: {first: 1, rest: Array(600_000).fill([])}});`,
	);
	const hub = await startHub(t, {servers: {server}});
	t.is(
		textIn(await hub.call('run', {command: 'server.act().first'})),
		'Error at line 1: ToolError: server.act returned more than 500000 values. Request less data.',
	);
});

test('forwards an error with too many values and logs it without parsing it [SEC-D11]', async t => {
	const server = inlineServer(
		`methods['tools/call'] = () => ({content: [{type: 'text', text: 'no'}], isError: true, rest: Array(600_000).fill([])});`,
	);
	const hub = await startHub(t, {expose: 'both', servers: {server}});
	t.like(await hub.call('server__act'), {result: {isError: true, content: [{text: 'no'}]}});
	await until(() => logged(hub.running, 'proxy.tool.call').length === 1);
	const [entry] = logged(hub.running, 'proxy.tool.call');
	t.is(entry?.errorMessage, 'The result has more than 500000 values.');
});

for (const [what, fields, expected] of [
	['an id', `id: 'x'.repeat(5000)`, /^-31007.*id/],
	[
		'a progress token',
		`id: 'short', params: {_meta: {progressToken: 'x'.repeat(5000)}}`,
		/^-32600Invalid Request: the progressToken has more than 4096 characters$/,
	],
] as const)
	test(`rejects a server request with ${what} over the limit instead of forwarding it [SEC-D5]`, async t => {
		const server = inlineServer(`
			methods['tools/call'] = (_, id) => {
				hooks.response = ({error}) => send({id, result: {content: [{type: 'text', text: error.code + error.message}]}});
				send({method: 'elicitation/create', params: {}, ${fields}});
			};`);
		const hub = await startHub(t, {expose: 'tools', servers: {server}}, {capabilities: {elicitation: {}}});
		t.regex(textIn(await hub.call('server__act')), expected);
		t.false(hub.running.lines.some(line => line.includes('elicitation/create')));
	});

test('cancels a server request by an escaped spelling of its id', async t => {
	const server = inlineServer(`
		methods['tools/call'] = () => {
			send({id: 'ab', method: 'elicitation/create', params: {message: 'x', requestedSchema: schema}});
			process.stdout.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\\\\u0061b"}}\\n');
			return {content: []};
		};`);
	const hub = await startHub(t, {expose: 'tools', servers: {server}}, {capabilities: {elicitation: {}}});
	await hub.call('server__act');
	const {id} = await hub.running.message(({method}) => method === 'elicitation/create');
	t.like(await hub.running.message(({method}) => method === 'notifications/cancelled'), {
		params: {requestId: id},
	});
});
