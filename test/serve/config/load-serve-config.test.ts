import {mkdirSync, writeFileSync} from 'node:fs';
import {homedir} from 'node:os';
import {join} from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import {stringify} from 'smol-toml';
import {BridgeError} from '../../../lib/core/errors.js';
import {createFixture} from './support.js';

test('uses defaults without any file, and reports them as the origin [FR-12.3]', async t => {
	const {load, home} = createFixture(t);
	const {config, origins, warnings, files} = await load();
	t.like(config, {team: 'default', coreIdentity: 'human', identity: 'codex', codexBin: 'codex', base: home});
	t.like(config, {model: undefined, sandbox: undefined, approvalPolicy: undefined, transport: 'auto'});
	t.like(config, {
		requestTimeoutSecs: 300,
		maxConcurrentThreads: 10,
		mailPollIntervalMs: 5000,
		autoMail: true,
	});
	t.like(config, {maxMailMessages: 10, maxMailMessageLength: 4096, persistThreads: true});
	t.is(origins.get('base'), '$ATM_HOME');
	t.deepEqual(
		new Set([...origins].filter(([name]) => name !== 'base').map(([, origin]) => origin)),
		new Set(['default']),
	);
	t.deepEqual([warnings, files], [[], []]);
});

test('reads every key of the plugin table, under both of its names [FR-12.1]', async t => {
	for (const table of ['codex-mcp', 'atm-agent-mcp']) {
		const {load, writeUserFile, home} = createFixture(t);
		writeUserFile(`[plugins.${table}]
			codex_bin = "/opt/codex"\nidentity = "arch"\nmodel = "m"\nfast_model = "f"\nreasoning_effort = "high"
			sandbox = "read-only"\napproval_policy = "never"\nmail_poll_interval_ms = 1000\nrequest_timeout_secs = 20
			max_concurrent_threads = 3\npersist_threads = false\nauto_mail = false\nmax_mail_messages = 5
			max_mail_message_length = 100\nbase_prompt_file = "base.md"\nextra_instructions_file = "~/extra.md"
			transport = "app-server"\nper_thread_auto_mail = {dev = false}`);
		const {config, warnings} = await load();
		t.deepEqual(warnings, []);
		t.like(config, {
			codexBin: '/opt/codex',
			identity: 'arch',
			model: 'm',
			fastModel: 'f',
			reasoningEffort: 'high',
		});
		t.like(config, {
			sandbox: 'read-only',
			approvalPolicy: 'never',
			mailPollIntervalMs: 1000,
			requestTimeoutSecs: 20,
		});
		t.like(config, {maxConcurrentThreads: 3, persistThreads: false, autoMail: false, maxMailMessages: 5});
		t.like(config, {maxMailMessageLength: 100, transport: 'app-server'});
		t.is(config.basePromptFile, join(home, '.config', 'atm', 'base.md'));
		t.is(config.extraInstructionsFile, join(homedir(), 'extra.md'));
		t.deepEqual([...config.perThreadAutoMail], [['dev', false]]);
	}
});

test('reads both spellings of a key, and prefers default_identity to identity [FR-2.5] [FR-8.5]', async t => {
	const {load, writeRepoFile} = createFixture(t);
	const file = writeRepoFile(
		'[plugins.codex-mcp]\nidentity = "b"\ndefault_identity = "a"\nmax_messages = 3\nmax_message_length = 9\n[atm]\ndefault_team = "red"',
	);
	const {config, warnings, origins} = await load();
	t.like(config, {identity: 'a', maxMailMessages: 3, maxMailMessageLength: 9, team: 'red'});
	t.is(origins.get('identity'), `${file} [plugins.codex-mcp].default_identity`);
	t.is(warnings.length, 1);
	t.regex(warnings[0] ?? '', /\[plugins\.codex-mcp\]\.identity: .*default_identity takes precedence/);
});

test('merges roles key by key over all files [FR-12.2]', async t => {
	const {load, writeUserFile, writeRepoFile} = createFixture(t);
	writeUserFile(
		'[plugins.codex-mcp.roles.deep]\nmodel = "big"\nsandbox = "read-only"\n[plugins.codex-mcp.roles.plain]',
	);
	writeRepoFile('[plugins.codex-mcp.roles.deep]\nsandbox = "workspace-write"\nreasoning_effort = "high"');
	const {config, origins} = await load({isTrusted: true});
	t.deepEqual(config.roles.get('deep'), {
		model: 'big',
		sandbox: 'workspace-write',
		approvalPolicy: undefined,
		reasoningEffort: 'high',
	});
	t.true(config.roles.has('plain'));
	t.regex(origins.get('roles.deep.model') ?? '', /config\.toml \[plugins\.codex-mcp\.roles\.deep\]\.model$/);
	t.regex(origins.get('roles.deep.sandbox') ?? '', /\.atm\.toml /);
});

test('prefers flags to variables, the explicit file, the repository file, the user file and defaults, in this order [FR-12.3]', async t => {
	const {load, writeUserFile, writeRepoFile, home} = createFixture(t);
	const named = join(home, 'named.toml');
	const values = (prefix: string, keys: readonly string[]): string =>
		`[plugins.codex-mcp]\n${keys.map(key => `${key} = "${prefix}-${key.replaceAll('_', '')}"`).join('\n')}`;
	const keys = ['fast_model', 'reasoning_effort', 'role', 'identity', 'model'];
	writeUserFile(values('global', keys));
	writeRepoFile(values('repo', keys.slice(1)));
	writeFileSync(named, values('named', keys.slice(2)));
	const env = {ATM_AGENT_MCP_IDENTITY: ' env-id ', ATM_AGENT_MCP_MODEL: 'env-model', ATM_CONFIG: named};
	const {config, origins, files} = await load({model: 'flag-model'}, env);
	t.like(config, {fastModel: 'global-fastmodel', reasoningEffort: 'repo-reasoningeffort'});
	t.like(config, {role: 'named-role', identity: 'env-id', model: 'flag-model'});
	t.is(origins.get('model'), '--model');
	t.is(origins.get('identity'), '$ATM_AGENT_MCP_IDENTITY');
	t.is(origins.get('role'), `${named} [plugins.codex-mcp].role`);
	t.is(files[0], named);
});

test('property: takes each key from the first layer that has it [FR-12.3]', async t => {
	const numbers = ['request_timeout_secs', 'max_concurrent_threads', 'max_queued_turns'] as const;
	const names = ['requestTimeoutSecs', 'maxConcurrentThreads', 'maxQueuedTurns'] as const;
	const table = fc.dictionary(fc.constantFrom(...numbers), fc.integer({min: 1, max: 999}));
	const {load, writeUserFile, writeRepoFile, home} = createFixture(t);
	const named = join(home, 'named.toml');
	await fc.assert(
		fc.asyncProperty(table, table, table, table, async (env, inNamed, inRepo, inOwn) => {
			const text = (values: object): string => stringify({plugins: {'codex-mcp': values}});
			writeUserFile(text(inOwn));
			writeRepoFile(text(inRepo));
			writeFileSync(named, text(inNamed));
			const variables = Object.entries(env).map(([key, value]) => [
				`ATM_AGENT_MCP_${key.toUpperCase()}`,
				`${value}`,
			]);
			const {config} = await load({config: named, isTrusted: true}, Object.fromEntries(variables));
			for (const [at, key] of numbers.entries()) {
				const expected = [env, inNamed, inRepo, inOwn].find(layer => key in layer)?.[key];
				const actual = config[names[at] ?? 'maxQueuedTurns'];
				t.is(
					actual,
					expected ?? {request_timeout_secs: 300, max_concurrent_threads: 10, max_queued_turns: 32}[key],
				);
			}
		}),
		{numRuns: 60},
	);
});

test('searches the repository file upwards, up to the first folder with .git [2.1]', async t => {
	const {load, writeRepoFile, repo} = createFixture(t);
	const deep = join(repo, 'a', 'b');
	mkdirSync(deep, {recursive: true});
	writeRepoFile('[core]\ndefault_team = "top"');
	t.is((await load({}, {}, deep)).config.team, 'top');
	writeRepoFile('[core]\ndefault_team = "near"', 'a');
	t.is((await load({}, {}, deep)).config.team, 'near');
	mkdirSync(join(deep, '.git'));
	t.is((await load({}, {}, deep)).config.team, 'default');
});

test('reads team and identity key by key, and leaves missing ones to other files [2.1]', async t => {
	const {load, writeUserFile, writeRepoFile} = createFixture(t);
	writeUserFile('[core]\ndefault_team = "red"\nidentity = "ada"\n[aliases]\nlead = "team-lead"\nme = "ada"');
	writeRepoFile('[plugins.codex-mcp]\nmodel = "m"\n[aliases]\nlead = "boss"');
	const {config} = await load({isTrusted: true});
	t.like(config, {team: 'red', coreIdentity: 'ada', identity: 'codex', model: 'm'});
	t.deepEqual([...config.aliases].sort(), [
		['lead', 'boss'],
		['me', 'ada'],
	]);
	writeRepoFile('[core]\nidentity = "bob"');
	t.like((await load()).config, {team: 'red', coreIdentity: 'bob'});
});

test('trims variables, treats empty ones as unset, and ignores invalid ones with a warning [2.1]', async t => {
	const {load} = createFixture(t);
	const {config, warnings, origins} = await load(
		{},
		{ATM_TEAM: ' red ', ATM_IDENTITY: ' ', ATM_AGENT_MCP_AUTO_MAIL: 'no', ATM_AGENT_MCP_MODEL: '5'},
	);
	t.like(config, {team: 'red', coreIdentity: 'human', autoMail: true, model: '5'});
	t.is(origins.get('team'), '$ATM_TEAM');
	t.deepEqual(warnings, ['$ATM_AGENT_MCP_AUTO_MAIL: Expected true or false. It is ignored.']);
});

test('ignores mistakes in a discovered file with a warning that has file and key, and uses the rest', async t => {
	const {load, writeRepoFile} = createFixture(t);
	const file = writeRepoFile(
		'[core]\ndefault_team = "../x"\n[plugins.codex-mcp]\nmodle = "m"\nauto_mail = "yes"\nmodel = "m"\nroles = 3\nidentity = "a.b"',
	);
	const {config, warnings} = await load();
	t.like(config, {team: 'default', model: 'm', autoMail: true, identity: 'codex'});
	const text = warnings.join('\n');
	for (const key of [
		'[core].default_team',
		'modle: This key is not known. Did you mean model?',
		'.auto_mail: Expected true or false.',
		'.roles: Expected a table.',
		'.identity: Expected',
	])
		t.true(text.includes(key), `${key} in ${text}`);
	t.true(warnings.every(warning => warning.startsWith(`${file}: `)));
	writeRepoFile('[core\n');
	t.regex((await load()).warnings.join(), /\.atm\.toml:1:\d+: Invalid TOML: .* It is ignored\./);
});

test('rejects an explicit file that is missing or invalid', async t => {
	const {load, home} = createFixture(t);
	await t.throwsAsync(load({config: join(home, 'none.toml')}), {
		instanceOf: BridgeError,
		message: /none\.toml cannot be read/,
	});
	const file = join(home, 'wrong.toml');
	for (const [text, message] of [
		['[plugins.codex-mcp]\nmodle = "x"', /modle: This key is not known/],
		['[plugins.codex-mcp]\nauto_mail = 3', /auto_mail: Expected true or false/],
		['not toml', /Invalid TOML/],
	] as const) {
		writeFileSync(file, text);
		await t.throwsAsync(load({}, {ATM_CONFIG: file}), {instanceOf: BridgeError, message});
	}
});

test('rejects an invalid flag', async t => {
	const {load} = createFixture(t);
	await t.throwsAsync(load({identity: '../x'}), {instanceOf: BridgeError, message: /--identity \.\.\/x/});
	await t.throwsAsync(load({team: ''}), {instanceOf: BridgeError});
});

test('uses fast_model for --fast, and warns if it is not configured', async t => {
	const {load, writeUserFile} = createFixture(t);
	t.regex(
		(await load({isFast: true})).warnings.join(),
		/--fast has no effect: the configuration has no fast_model/,
	);
	writeUserFile('[plugins.codex-mcp]\nmodel = "slow"\nfast_model = "quick"');
	const {config, origins} = await load({isFast: true});
	t.is(config.model, 'quick');
	t.regex(origins.get('model') ?? '', /^--fast, /);
	t.is((await load({isFast: true, model: 'mine'})).config.model, 'mine');
});
