import test from 'ava';
import {resolveService} from '../../lib/config/resolve-service.js';
import type {ServiceConfig} from '../../lib/config/schema.js';

const place = {path: ['servers', 'a'], folder: '/etc/bridge'};

function serviceOf(input: unknown): ServiceConfig {
	const {service, issues} = resolveService('a', input, place);
	if (!service) throw new Error(JSON.stringify(issues));
	return service;
}

const issuesOf = (input: unknown): string[] =>
	resolveService('a', input, place).issues.map(({path = [], text}) => `${path.slice(2).join('.')}: ${text}`);

for (const [input, transport, isTransportGuessed] of [
	[{command: 'x'}, 'stdio', true],
	[{url: 'http://localhost/'}, 'http', true],
	[{url: 'https://x/'}, 'http', true],
	[{url: 'ws://localhost/'}, 'ws', true],
	[{url: 'WSS://x/'}, 'ws', true],
	[{url: 'https://x/', transport: 'http'}, 'http', false],
	[{url: 'https://x/', transport: 'sse'}, 'sse', false],
	[{url: 'https://x/', type: 'sse'}, 'sse', false],
	[{url: 'https://x/', type: 'streamable-http'}, 'http', false],
	[{url: 'https://x/', type: 'streamableHttp'}, 'http', false],
	[{url: 'wss://x/', type: 'websocket'}, 'ws', false],
	[{url: 'https://x/', type: 'streamable-http', transport: 'http'}, 'http', false],
	[{command: 'x', type: 'stdio'}, 'stdio', false],
] as const)
	test(`uses ${transport} for ${JSON.stringify(input)}`, t => {
		t.like(serviceOf(input), {transport, isTransportGuessed});
	});

for (const [input, pattern] of [
	[{}, /^: Expected a url or a command/],
	[{args: ['x']}, /^: Expected a url or a command/],
	[{url: 'https://x/', command: 'y'}, /^command: A server cannot have both/],
	[{command: ''}, /^command: Expected text, found nothing/],
	[{command: 'a\0b'}, /^command: Expected text\.$/],
	[{command: 'x', transport: 'http'}, /^transport: http needs a url, but this server has a command/],
	[{command: 'x', type: 'sse'}, /^type: sse needs a url/],
	[{url: 'https://x/', transport: 'stdio'}, /^transport: stdio needs a command/],
	[{url: 'https://x/', transport: 'ws'}, /^transport: ws does not match this url/],
	[{url: 'wss://x/', type: 'http'}, /^type: http does not match this url/],
	[{url: 'https://x/', type: 'sse', transport: 'http'}, /^type: This is an alias of transport/],
	[{url: 'https://x/', transport: 'streamable-http'}, /^transport: Expected one of http, sse, ws, stdio/],
	[{command: 'x', enabled: true, disabled: true}, /^disabled: This contradicts enabled/],
	[{command: 'x', args: 'y'}, /^args: Expected a list/],
	[{command: 'x', args: [1]}, /^args\.0: Expected text; put quotes around numbers/],
	[{command: 'x', env: {A: 1}}, /^env\.A: Expected text; put quotes around numbers/],
	[{command: 'x', env: {'A=B': '1'}}, /^env\.A=B: The name is not a valid variable name/],
	[{command: 'x', env: {'': '1'}}, /^env\.: The name is not a valid variable name/],
	[{command: 'x', env: ['A=1']}, /^env: Expected names and values, found a list/],
	[{url: 'https://x/', headers: {'a b': 'c'}}, /^headers\.a b: The name is not the name of a header/],
	[{url: 'https://x/', headers: {'a\r\nb': 'c'}}, /^headers\..*: The name is not the name of a header/s],
	[
		{url: 'https://x/', headers: {Host: 'c'}},
		/^headers\.Host: The name is not the name of a header that can be set/,
	],
	[{url: 'https://x/', headers: {'Mcp-Session-Id': 'c'}}, /^headers\.Mcp-Session-Id: /],
	[{url: 'https://x/', headers: {'Transfer-Encoding': 'c'}}, /^headers\.Transfer-Encoding: /],
	[{url: 'https://x/', headers: {A: 'b\r\nC: d'}}, /^headers\.A: Expected the value of a header/],
	[{url: 'https://x/', headers: {A: 'b\0'}}, /^headers\.A: Expected the value of a header/],
	[{url: 'https://x/', headers: {A: '€'}}, /^headers\.A: Expected the value of a header/],
	[{url: 'https://x/', headers: {A: '1', a: '2'}}, /^headers: Duplicate header: a\./],
	[{url: 'https://x/', accept: 'a\nb'}, /^accept: Expected the value of a header/],
	[
		{url: 'https://x/', targetVersion: '2024-10-07'},
		/^targetVersion: Expected one of 2024-11-05, .*2026-07-28/,
	],
	[
		{url: 'https://x/', clientVersion: '2026-07-28'},
		/^clientVersion: Expected one of .*2025-11-25, found "2026/,
	],
	[{command: 'x', timeout: -1}, /^timeout: Expected a time/],
	[{command: 'x', timeout: 1e9}, /^timeout: Expected a time/],
	[{command: 'x', timeout: Number.NaN}, /^timeout: Expected a time/],
	[{command: 'x', cacheTools: 'yes'}, /^cacheTools: Expected true or false, found "yes"/],
	[{command: 'x', shared: null}, /^shared: Expected true or false, found nothing/],
	[{command: 'x', envFile: '.env'}, /^envFile: This key is not known/],
	[null, /^: Expected a url or a command/],
	[['x'], /^: Expected a url or a command/],
	['npx x', /^: Expected a url or a command/],
] as const)
	test(`rejects ${JSON.stringify(input)}`, t => {
		const found = issuesOf(input);
		t.is(found.length, 1, found.join('\n'));
		t.regex(found[0] ?? '', pattern);
	});

for (const [input, expected] of [
	[{url: 'http://example.com/mcp'}, 'https://example.com/mcp'],
	[{url: 'http://example.com:80/mcp'}, 'https://example.com/mcp'],
	[{url: 'http://example.com:8080/mcp'}, 'https://example.com:8080/mcp'],
	[{url: 'http://10.0.0.1/mcp'}, 'https://10.0.0.1/mcp'],
	[{url: 'http://localhost.example.com/'}, 'https://localhost.example.com/'],
	[{url: 'ws://example.com/'}, 'wss://example.com/'],
	[{url: 'http://example.com/mcp', insecure: true}, 'http://example.com/mcp'],
	[{url: 'http://localhost:3000/mcp'}, 'http://localhost:3000/mcp'],
	[{url: 'http://127.0.0.1/mcp'}, 'http://127.0.0.1/mcp'],
	[{url: 'http://[::1]:1/mcp'}, 'http://[::1]:1/mcp'],
	[{url: 'https://localhost/mcp'}, 'https://localhost/mcp'],
	[{url: 'https://example.com/mcp', insecure: true}, 'https://example.com/mcp'],
] as const)
	test(`resolves ${JSON.stringify(input)} to ${expected}`, t => {
		const {service, warnings} = resolveService('a', input, place);
		t.is(service?.url?.href, expected);
		const isUpgraded = new URL(expected).protocol !== new URL(input.url).protocol;
		t.is(warnings.length, isUpgraded ? 1 : 0);
	});

test('a timeout is in seconds, may have a unit, and is disabled by 0', t => {
	t.is(serviceOf({command: 'x'}).timeoutMs, 60_000);
	t.is(serviceOf({command: 'x', timeout: 0}).timeoutMs, 0);
	t.is(serviceOf({command: 'x', timeout: 1.5}).timeoutMs, 1500);
	t.is(serviceOf({command: 'x', timeout: '5m'}).timeoutMs, 300_000);
});

test('disabled is the opposite of enabled', t => {
	t.false(serviceOf({command: 'x', disabled: true}).enabled);
	t.true(serviceOf({command: 'x', disabled: false}).enabled);
	t.false(serviceOf({command: 'x', disabled: true, enabled: false}).enabled);
});

test('resolves cwd relative to the file', t => {
	t.is(serviceOf({command: 'x', cwd: 'sub/..'}).cwd, '/etc/bridge');
	t.is(serviceOf({command: 'x', cwd: '/abs'}).cwd, '/abs');
	t.is(serviceOf({command: 'x'}).cwd, undefined);
});

test('Accept and Content-Type may be headers, but their own keys win', t => {
	const headers = {Accept: 'a/b', 'content-type': 'c/d', 'X-Other': 'e'};
	t.like(serviceOf({url: 'https://x/', headers}), {accept: 'a/b', contentType: 'c/d'});
	t.deepEqual(serviceOf({url: 'https://x/', headers}).headers, {'X-Other': 'e'});
	t.is(serviceOf({url: 'https://x/', headers, accept: 'f/g'}).accept, 'f/g');
});

for (const [input, keys] of [
	[{command: 'x', alwaysAllow: ['a'], description: 'b'}, ['alwaysAllow', 'description']],
	[{command: 'x', headers: {A: 'b'}, passAuthorization: false}, ['headers', 'passAuthorization']],
	[{url: 'https://x/', args: ['a'], shared: true}, ['args', 'shared']],
	[{url: 'https://x/', args: [], env: {}, shared: false}, []],
	[{command: 'x', headers: {}, insecure: false, passAuthorization: true}, []],
] as const)
	test(`warns about ${keys.join(' and ') || 'nothing'} in ${JSON.stringify(input)}`, t => {
		const {warnings} = resolveService('a', input, place);
		t.deepEqual(
			warnings.map(({path = []}) => path[2]),
			[...keys],
		);
	});
