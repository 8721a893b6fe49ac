import test from 'ava';
import {headerParametersIn, ToolHeaderParameters} from '../../lib/protocol/tool-header-parameters.js';

const marked = (name: string, type = 'string') => ({type, 'x-mcp-header': name});
const schema = {
	type: 'object',
	properties: {
		region: marked('Region'),
		count: marked('Count', 'integer'),
		isDry: marked('Dry-Run', 'boolean'),
		place: {type: 'object', properties: {zone: marked('Zone')}},
	},
};
const createParameters = (): ToolHeaderParameters => {
	const parameters = new ToolHeaderParameters();
	parameters.update([
		{name: 'deploy', inputSchema: schema},
		{name: 'plain', inputSchema: {type: 'object'}},
		5,
	]);
	return parameters;
};
const call = (args: unknown) => ({name: 'deploy', arguments: args});

test('finds marked arguments only below properties [C14]', t => {
	t.deepEqual(
		headerParametersIn(schema).map(({header, path}) => [header, path.join('.')]),
		[
			['mcp-param-region', 'region'],
			['mcp-param-count', 'count'],
			['mcp-param-dry-run', 'isDry'],
			['mcp-param-zone', 'place.zone'],
		],
	);
	for (const odd of [
		undefined,
		null,
		7,
		[],
		{properties: []},
		{properties: {a: marked('')}},
		{properties: {a: marked('two words')}},
		{properties: {a: marked('a\r\nb')}},
		{properties: {a: marked('Of', 'object')}},
		{items: {properties: {a: marked('A')}}},
		{anyOf: [{properties: {a: marked('A')}}]},
		{$ref: 'https://example.com/schema'},
	])
		t.deepEqual(headerParametersIn(odd), []);
});

test('does not search a schema beyond the depth limit [C14] [A19]', t => {
	let deep: unknown = {properties: {a: marked('Deep')}};
	for (let level = 0; level < 900; level++) deep = {properties: {a: deep}};
	t.deepEqual(headerParametersIn(deep), []);
});

test('returns the headers for the arguments of a call [C14]', t => {
	const parameters = createParameters();
	t.deepEqual(parameters.headersOf(call({region: 'eu', count: 3, isDry: false, place: {zone: 'ä'}})), {
		'mcp-param-region': 'eu',
		'mcp-param-count': '3',
		'mcp-param-dry-run': 'false',
		'mcp-param-zone': '=?base64?w6Q=?=',
	});
	t.deepEqual(parameters.headersOf(call({region: null, count: {}, other: 1})), {});
	t.deepEqual(parameters.headersOf({name: 'plain', arguments: {region: 'eu'}}), {});
	t.deepEqual(parameters.headersOf({name: 'constructor', arguments: {}}), {});
});

test('reports a header that is missing or differs from the message [C14]', t => {
	const parameters = createParameters();
	const check = (args: unknown, headers: {[name: string]: string | string[]}) =>
		parameters.mismatch(call(args), headers);
	t.is(check({region: 'eu'}, {'mcp-param-region': 'eu', 'mcp-param-unknown': 'x'}), undefined);
	t.is(check({region: 'ä'}, {'mcp-param-region': '=?base64?w6Q=?='}), undefined);
	t.is(check({count: 42}, {'mcp-param-count': '42.0'}), undefined, 'numbers are compared as numbers');
	t.is(check({region: null}, {'mcp-param-region': 'eu'}), undefined, 'an absent argument has no header');
	t.like(check({region: 'eu'}, {'mcp-param-region': 'us'}), {actual: 'us', expected: 'eu'});
	t.like(check({region: 'eu'}, {}), {header: 'Mcp-Param-region', actual: undefined});
	t.like(check({region: '42'}, {'mcp-param-region': '42.0'}), {expected: '42'});
	t.truthy(check({region: 'eu'}, {'mcp-param-region': ['eu', 'us']}));
	t.truthy(check({place: {zone: 'a'}}, {'mcp-param-zone': 'b'}));
});

test('removes a tool that no longer has such arguments [C14]', t => {
	const parameters = createParameters();
	parameters.update([{name: 'deploy', inputSchema: {type: 'object'}}]);
	t.false(parameters.hasAny);
	t.is(parameters.mismatch(call({region: 'eu'}), {}), undefined);
});
