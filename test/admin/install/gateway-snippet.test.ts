import test from 'ava';
import {parse as parseToml} from 'smol-toml';
import {
	type GatewayAccess,
	gatewayClientSnippet,
	type SnippetClient,
	snippetClients,
} from '../../../lib/admin/install/gateway-snippet.js';
import {parseJsonWithComments} from '../../../lib/config/json-with-comments.js';

/** The complete output for a client. */
const textFor = (client: SnippetClient, access: GatewayAccess): string => {
	const {location, text, commands = []} = gatewayClientSnippet(client, access);
	return [
		`# ${location}`,
		text,
		...(commands.length > 0 ? ['# or, for your user only:', ...commands] : []),
	].join('\n');
};

const openAccess: GatewayAccess = {
	base: new URL('http://127.0.0.1:7411'),
	services: ['legacy', 'files'],
	hasToken: false,
};
const guarded: GatewayAccess = {...openAccess, hasToken: true};

/** Parses the JSON in a snippet, from its first brace to the closing line. */
const jsonIn = (text: string): unknown => parseJsonWithComments(/^\{$.*?^\}$/ms.exec(text)?.[0] ?? '').value;

test('prints a table per service for Codex', t => {
	t.deepEqual(parseToml(textFor('codex', openAccess)), {
		mcp_servers: {
			legacy: {url: 'http://127.0.0.1:7411/mcp/legacy'},
			files: {url: 'http://127.0.0.1:7411/mcp/files'},
		},
	});
});

test('Codex reads the token from a variable', t => {
	const {mcp_servers: servers} = parseToml(textFor('codex', guarded)) as {mcp_servers: object};
	t.like(servers, {files: {env_http_headers: {'X-Bridge-Token': 'BRIDGE_TOKEN'}}});
});

test('prints a .mcp.json and a command per service for Claude', t => {
	const text = textFor('claude', openAccess);
	t.deepEqual(jsonIn(text), {
		mcpServers: {
			legacy: {type: 'http', url: 'http://127.0.0.1:7411/mcp/legacy'},
			files: {type: 'http', url: 'http://127.0.0.1:7411/mcp/files'},
		},
	});
	t.regex(text, /^claude mcp add --transport http files http:\/\/127\.0\.0\.1:7411\/mcp\/files$/m);
});

test('Claude reads the token from a variable', t => {
	const text = textFor('claude', guarded);
	t.like(jsonIn(text), {mcpServers: {files: {headers: {'X-Bridge-Token': `$\{BRIDGE_TOKEN}`}}}});
	t.regex(text, /mcp\/files --header "X-Bridge-Token: \$BRIDGE_TOKEN"$/m);
});

test('prints an mcp.json for Cursor', t => {
	t.deepEqual(jsonIn(textFor('cursor', {...guarded, services: ['a']})), {
		mcpServers: {
			a: {url: 'http://127.0.0.1:7411/mcp/a', headers: {'X-Bridge-Token': `$\{env:BRIDGE_TOKEN}`}},
		},
	});
});

test('prints an mcp.json for VS Code that prompts for the token', t => {
	t.deepEqual(jsonIn(textFor('vscode', {...openAccess, services: ['a']})), {
		servers: {a: {type: 'http', url: 'http://127.0.0.1:7411/mcp/a'}},
	});
	t.like(jsonIn(textFor('vscode', {...guarded, services: ['a']})), {
		inputs: [{id: 'bridge-token', password: true}],
		servers: {a: {headers: {'X-Bridge-Token': `$\{input:bridge-token}`}}},
	});
});

for (const client of snippetClients)
	test(`names the file for ${client}, also without services`, t => {
		t.regex(textFor(client, {...guarded, services: []}), /^# \S*\.(toml|json)/);
	});
