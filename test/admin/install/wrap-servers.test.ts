import test from 'ava';
import fc from 'fast-check';
import {parse as parseToml, stringify} from 'smol-toml';
import {unwrapServers, wrapServers} from '../../../lib/admin/install/wrap-servers.js';
import {BridgeError} from '../../../lib/core/errors.js';

const json = {client: 'cursor', file: '/f', cwd: '/nowhere'} as const;
const codex = {client: 'codex', file: '/f', cwd: '/nowhere'} as const;
const bridgeCommands = [['bridge'], ['/usr/bin/node', '/opt/dist/bin/bridge.js']] as const;

test('wrapping preserves the layout of JSON, and unwrapping restores it exactly', t => {
	const text = `{
	// mine
	"mcpServers": {
		"one": {"command": "npx", "args": ["-y", "x"], "env": {"A": "1"}},
		"many": {
			"command": "caf\\u00e9",
			"args": [
				"-y", // yes
				"x"
			]
		},
		"empty": {"args": [], "command": "e"},
		"remote": {"url": "https://example.com/mcp"}
	}
}
`;
	for (const own of bridgeCommands) {
		const {text: after, steps, skipped} = wrapServers(text, own, json);
		t.is(steps.length, 3);
		t.is(skipped.length, 1);
		t.regex(skipped.join(), /^remote has a url, /);
		t.is(unwrapServers(after, json).text, text);
		t.is(wrapServers(after, own, json).text, after, 'idempotent');
	}
	const {text: after} = wrapServers(text, ['bridge'], json);
	t.true(
		after.includes('"one": {"command": "bridge", "args": ["--", "npx", "-y", "x"], "env": {"A": "1"}},'),
	);
	t.true(after.includes('"args": [\n\t\t\t\t"--",\n\t\t\t\t"caf\\u00e9",\n\t\t\t\t"-y", // yes\n'));
});

test('adds a list of arguments to a command without arguments', t => {
	const text = '{"mcpServers": {"a": {\n  "command": "x",\n  "env": {}\n}}}';
	const {text: after} = wrapServers(text, ['bridge'], json);
	t.is(after, '{"mcpServers": {"a": {\n  "command": "bridge",\n  "args": ["--", "x"],\n  "env": {}\n}}}');
	t.deepEqual(JSON.parse(unwrapServers(after, json).text).mcpServers.a, {command: 'x', args: [], env: {}});
});

test('wrapping preserves the layout of TOML, and unwrapping restores it exactly', t => {
	const text = `# mine
[mcp_servers.one] # first
command = 'npx'
args = ["-y", 'x']

[mcp_servers."my.two"]
args = [
  "-y",
  # why
  "x",
]
command = "uvx" # runs it

[mcp_servers.one.env]
command = "not a command"

[mcp_servers.remote]
url = "https://example.com/mcp"
`;
	for (const own of bridgeCommands) {
		const {text: after, steps, skipped} = wrapServers(text, own, codex);
		t.is(steps.length, 2);
		t.is(skipped.length, 1);
		t.regex(skipped.join(), /^remote has a url, /);
		t.is(unwrapServers(after, codex).text, text);
	}
	const bare = '[mcp_servers.a]\ncommand = "x"\n';
	t.is(
		wrapServers(bare, ['bridge'], codex).text,
		'[mcp_servers.a]\ncommand = "bridge"\nargs = ["--", "x"]\n',
	);
});

test('does not wrap entries that run bridge or unwrap those with bridge flags', t => {
	const entry = (...args: string[]) => ({command: '/usr/local/bin/bridge', args});
	const text = JSON.stringify({
		mcpServers: {
			serve: entry('serve'),
			wrapped: entry('--', 'x'),
			flagged: entry('--debug', '--', 'x'),
			odd: 5,
		},
	});
	t.deepEqual(wrapServers(text, ['bridge'], json).skipped, [
		'serve already runs bridge',
		'wrapped is already wrapped',
		'flagged already runs bridge',
		'odd has no command',
	]);
	const {skipped, steps} = unwrapServers(text, json);
	t.is(steps.length, 1);
	t.deepEqual(skipped, [
		'serve is not wrapped',
		'flagged has bridge flags and must be edited by hand',
		'odd has no command',
	]);
});

test('rejects an unsafe change and prints the entry to add by hand', t => {
	for (const text of [
		'mcp_servers = { a = { command = "x", args = ["ghp_0123456789abcdef", "--token", "hunter2"] } }',
		'[mcp_servers.a]\ncommand = """x"""\n',
		'text = """\n[mcp_servers.a]\ncommand = "y"\n"""\n[mcp_servers.a]\ncommand = "x"\n',
	]) {
		const error = t.throws(() => wrapServers(text, ['bridge'], codex), {instanceOf: BridgeError}, text);
		t.regex(error?.remedy ?? '', /Nothing was changed\. Add it yourself: mcp_servers\.a = /);
		t.notRegex(error?.remedy ?? '', /ghp_|hunter2/);
	}
});

test('wrapping changes only commands in any file, and unwrapping restores it', t => {
	const word = fc.string({unit: 'grapheme-ascii', maxLength: 12});
	const name = fc.stringMatching(/^[a-z_-]{1,8}$/).filter(key => key !== '__proto__');
	const entry = fc.record(
		{
			command: word.filter(text => !/bridge|node/.test(text)),
			args: fc.array(word, {maxLength: 3}),
			env: fc.dictionary(name, word, {noNullPrototype: true}),
		},
		{requiredKeys: ['command', 'args'], noNullPrototype: true},
	);
	const servers = fc.dictionary(name, entry, {maxKeys: 4, noNullPrototype: true});
	fc.assert(
		fc.property(servers, fc.constantFrom(undefined, 1, '\t'), (original, indent) => {
			const wrapped = Object.fromEntries(
				Object.entries(original).map(([key, {command, args, ...rest}]) => [
					key,
					{command: 'bridge', args: ['--', command, ...args], ...rest},
				]),
			);
			const text = JSON.stringify({mcpServers: original, z: 1}, undefined, indent);
			const after = wrapServers(text, ['bridge'], json).text;
			t.deepEqual(JSON.parse(after), {mcpServers: wrapped, z: 1});
			t.is(unwrapServers(after, json).text, text);
			const toml = stringify({mcp_servers: original});
			const changed = wrapServers(toml, ['bridge'], codex).text;
			t.deepEqual(JSON.parse(JSON.stringify(parseToml(changed).mcp_servers ?? {})), wrapped);
			t.is(unwrapServers(changed, codex).text, toml);
		}),
	);
});
