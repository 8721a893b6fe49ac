import test from 'ava';
import fc from 'fast-check';
import {parse as parseToml, stringify} from 'smol-toml';
import {setClientEntry} from '../../../lib/admin/install/client-entry.js';
import {setJsonMember} from '../../../lib/admin/install/edit-json.js';
import {parseConfigText} from '../../../lib/config/parse-text.js';
import {BridgeError} from '../../../lib/core/errors.js';
import {lineDiff} from '../../../lib/util/line-diff.js';

const entry = {command: 'bridge', args: ['serve']};

test('adds an entry to a JSON text and keeps comments, order and indentation', t => {
	const text =
		'// mine\n{\n\t"a": 1, // one\n\t"mcpServers": {\n\t\t// files\n\t\t"files": {"command": "x"},\n\t},\n}\n';
	const after = setClientEntry('cursor', text, 'bridge', entry, 'f');
	t.is(
		after,
		'// mine\n{\n\t"a": 1, // one\n\t"mcpServers": {\n\t\t"bridge": {\n\t\t\t"command": "bridge",\n\t\t\t"args": [\n\t\t\t\t"serve"\n\t\t\t]\n\t\t},\n\t\t// files\n\t\t"files": {"command": "x"},\n\t},\n}\n',
	);
});

test('replaces an existing entry and keeps its variables and other entries', t => {
	const text = '{"mcpServers":{"a":{"url":"x"},"bridge":{"url":"http://old","env":{"A":"1"}},"z":{}}}';
	const after = setClientEntry('claude', text, 'bridge', entry, 'f');
	t.deepEqual(JSON.parse(after), {
		mcpServers: {a: {url: 'x'}, bridge: {type: 'stdio', ...entry, env: {A: '1'}}, z: {}},
	});
	t.is(setClientEntry('claude', after, 'bridge', entry, 'f'), after, 'idempotent');
});

test('changes only the entry in any JSON text', t => {
	const json = fc
		.dictionary(fc.string(), fc.jsonValue({maxDepth: 3}), {noNullPrototype: true})
		.filter(value => !Object.hasOwn(value, '__proto__'));
	const space = fc.constantFrom(undefined, 1, '\t', 4);
	fc.assert(
		fc.property(json, json, space, (root, servers, indent) => {
			const whole = {...root, mcpServers: servers};
			const after = setJsonMember(JSON.stringify(whole, undefined, indent), ['mcpServers', 'bridge'], entry);
			t.deepEqual(
				JSON.parse(after),
				JSON.parse(JSON.stringify({...whole, mcpServers: {...servers, bridge: entry}})),
			);
		}),
	);
});

test('adds a table to a TOML text and keeps comments, other tables and subtables', t => {
	const text =
		'# mine\nmodel = "m" # which\n\n[mcp_servers.bridge] # old\nurl = "http://x"\nstartup_timeout_sec = 5\n\n# of files\n[mcp_servers.files]\ncommand = "y"\n\n[mcp_servers.bridge.env]\nA = "1"\n';
	const after = setClientEntry('codex', text, 'bridge', entry, 'f');
	t.is(
		after,
		'# mine\nmodel = "m" # which\n\n[mcp_servers.bridge]\ncommand = "bridge"\nargs = [ "serve" ]\nstartup_timeout_sec = 5\n\n# of files\n[mcp_servers.files]\ncommand = "y"\n\n[mcp_servers.bridge.env]\nA = "1"\n',
	);
	t.is(setClientEntry('codex', after, 'bridge', entry, 'f'), after);
	t.is(
		setClientEntry('codex', '', 'my.own', entry, 'f'),
		'[mcp_servers."my.own"]\ncommand = "bridge"\nargs = [ "serve" ]\n',
	);
});

test('changes only the entry in any TOML text', t => {
	const key = fc.stringMatching(/^[a-z_-]{1,8}$/).filter(name => name !== 'bridge' && name !== '__proto__');
	const value = fc.oneof(
		fc.string({unit: 'grapheme-ascii'}),
		fc.integer(),
		fc.boolean(),
		fc.array(fc.string({unit: 'grapheme-ascii'})),
	);
	const table = fc.dictionary(key, value, {noNullPrototype: true});
	fc.assert(
		fc.property(table, fc.dictionary(key, table, {noNullPrototype: true}), (root, servers) => {
			const text = stringify({...root, mcp_servers: servers});
			const after = setClientEntry('codex', text, 'bridge', entry, 'f');
			t.deepEqual(
				JSON.parse(JSON.stringify(parseToml(after))),
				JSON.parse(JSON.stringify({...root, mcp_servers: {...servers, bridge: entry}})),
			);
		}),
	);
});

test('rejects unsafe edits and prints the entry to add by hand', t => {
	for (const [client, text] of [
		['codex', 'mcp_servers = { bridge = { command = "x" } }'],
		['codex', '[mcp_servers.bridge]\nargs = [\n"a",\n]\n'],
		['codex', 'text = """\n[mcp_servers.bridge]\n"""\n'],
		['cursor', '{"mcpServers": []}'],
		['cursor', '[]'],
	] as const) {
		const error = t.throws(
			() => setClientEntry(client, text, 'bridge', entry, '/f'),
			{instanceOf: BridgeError},
			text,
		);
		t.regex(
			`${error?.message} ${error?.remedy}`,
			/\/f .*(Add it yourself: mcp_?[sS]ervers\.bridge = |cannot be parsed)/,
			text,
		);
	}
	for (const [client, text] of [
		['codex', '[mcp_servers'],
		['claude', '{"mcpServers": {'],
	] as const)
		t.throws(() => setClientEntry(client, text, 'bridge', entry, '/f'), {message: /\/f cannot be parsed/});
});

test('JSON with comments has the same values after an edit', t => {
	const text = '{ /* a */ "x": "// no comment", "y": ["}", {"mcpServers": 1}] /* b */ }';
	const after = setJsonMember(text, ['mcpServers', 'bridge'], entry);
	t.deepEqual(parseConfigText(after, '.json').value, {
		x: '// no comment',
		y: ['}', {mcpServers: 1}],
		mcpServers: {bridge: entry},
	});
});

test('a diff contains the changed lines and two lines of context', t => {
	t.deepEqual(lineDiff('a\nb\nc\nd\ne\nf\n', 'a\nb\nc\nX\ne\nf\n'), [
		'  b',
		'  c',
		'- d',
		'+ X',
		'  e',
		'  f',
	]);
	t.deepEqual(lineDiff('', 'a\n'), ['+ a']);
	t.deepEqual(lineDiff('a\na\n', 'a\na\na\n'), ['  a', '  a', '+ a']);
});
