import test from 'ava';
import {parse as parseToml} from 'smol-toml';
import {
	type GatewayAccess,
	gatewayClientSnippet,
	type SnippetClient,
	snippetClients,
} from '../../../lib/admin/install/gateway-snippet.js';
import {parseJsonWithComments} from '../../../lib/config/json-with-comments.js';

/** All that is printed for a client. */
const textFor = (client: SnippetClient, reach: GatewayAccess): string => {
	const {location: place, text, commands = []} = gatewayClientSnippet(client, reach);
	return [
		`# ${place}`,
		text,
		...(commands.length > 0 ? ['# or, for yourself alone:', ...commands] : []),
	].join('\n');
};

const reach: GatewayAccess = {
	base: new URL('http://127.0.0.1:7411'),
	services: ['legacy', 'files'],
	hasToken: false,
};
const guarded: GatewayAccess = {...reach, hasToken: true};

/** The JSON in a snippet: from its first brace to the line that closes it. */
const jsonIn = (text: string): unknown => parseJsonWithComments(/^\{$.*?^\}$/ms.exec(text)?.[0] ?? '').value;

test('codex gets a table for each service', t => {
	t.deepEqual(parseToml(textFor('codex', reach)), {
		mcp_servers: {
			legacy: {url: 'http://127.0.0.1:7411/mcp/legacy'},
			files: {url: 'http://127.0.0.1:7411/mcp/files'},
		},
	});
});

test('codex sends the token from a variable', t => {
	const {mcp_servers: servers} = parseToml(textFor('codex', guarded)) as {mcp_servers: object};
	t.like(servers, {files: {env_http_headers: {'X-Bridge-Token': 'BRIDGE_TOKEN'}}});
});

test('claude gets a .mcp.json, and a command for each service', t => {
	const text = textFor('claude', reach);
	t.deepEqual(jsonIn(text), {
		mcpServers: {
			legacy: {type: 'http', url: 'http://127.0.0.1:7411/mcp/legacy'},
			files: {type: 'http', url: 'http://127.0.0.1:7411/mcp/files'},
		},
	});
	t.regex(text, /^claude mcp add --transport http files http:\/\/127\.0\.0\.1:7411\/mcp\/files$/m);
});

test('claude sends the token from a variable', t => {
	const text = textFor('claude', guarded);
	t.like(jsonIn(text), {mcpServers: {files: {headers: {'X-Bridge-Token': `$\{BRIDGE_TOKEN}`}}}});
	t.regex(text, /mcp\/files --header "X-Bridge-Token: \$BRIDGE_TOKEN"$/m);
});

test('cursor gets a mcp.json', t => {
	t.deepEqual(jsonIn(textFor('cursor', {...guarded, services: ['a']})), {
		mcpServers: {
			a: {url: 'http://127.0.0.1:7411/mcp/a', headers: {'X-Bridge-Token': `$\{env:BRIDGE_TOKEN}`}},
		},
	});
});

test('VS Code gets a mcp.json, and asks for the token', t => {
	t.deepEqual(jsonIn(textFor('vscode', {...reach, services: ['a']})), {
		servers: {a: {type: 'http', url: 'http://127.0.0.1:7411/mcp/a'}},
	});
	t.like(jsonIn(textFor('vscode', {...guarded, services: ['a']})), {
		inputs: [{id: 'bridge-token', password: true}],
		servers: {a: {headers: {'X-Bridge-Token': `$\{input:bridge-token}`}}},
	});
});

for (const client of snippetClients)
	test(`${client} is told which file it goes into, and works without services`, t => {
		t.regex(textFor(client, {...guarded, services: []}), /^# \S*\.(toml|json)/);
	});
