import {copyFile, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import test from 'ava';
import {knownKeys} from '../../lib/config/schema.js';
import {configFixture, loaded} from '../config/support.js';
import {newFolder} from '../faults/support.js';
import {runBridge} from '../helpers/bridge.js';

const docs = await readFile(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
const blocks = [...docs.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
	language,
	text,
}));
const examples = blocks.filter(({language}) => language !== '');
const transcripts = blocks
	.filter(({language}) => language === '')
	.map(({text}) => text.trimEnd().split('\n'));

const environment = {
	...{
		BRIDGE_TOKEN: 'a token of some length'.replaceAll(' ', '-'),
		BRIDGE_SECRET: 'a secret of some length',
		LEGACY_KEY: 'k',
		HOME: '/home/me',
	},
};

test('docs/configuration.md has examples in every syntax', t => {
	t.deepEqual(new Set(examples.map(({language}) => language)), new Set(['yaml', 'json', 'toml']));
});

for (const [index, {language, text}] of examples.entries())
	test(`docs/configuration.md: example ${index + 1}, in ${language}, is a configuration`, async t => {
		const {config} = await loaded(t, text, {name: `bridge.${language}`, environment});
		t.true(config.services.size > 0);
	});

for (const [kind, keys] of Object.entries(knownKeys))
	for (const key of keys)
		test(`docs/configuration.md tells of ${kind} ${key}`, t => {
			t.true(docs.includes(kind === 'limits' ? `\`limits.${key}\`` : `\`${key}\``));
		});

test.serial('docs/configuration.md shows what bridge config prints', async t => {
	const cwd = await newFolder(t);
	await writeFile(join(cwd, 'bridge.yaml'), examples[0]?.text ?? '', {mode: 0o600});
	const env = {...process.env, ...environment};
	const {stdout, stderr} = await runBridge(['config', '--check', 'bridge.yaml'], '', {cwd, env});
	t.regex(stderr, /^bridge: .*is not trusted.*\n$/);
	const [, ...shown] = transcripts[0] ?? [];
	const printed = stdout.map(line => line.replace(cwd, '/home/me'));
	t.deepEqual(printed.slice(0, shown.length), shown);
});

test.serial('docs/configuration.md shows what bridge config says of mistakes', async t => {
	const cwd = await newFolder(t);
	await copyFile(configFixture('wrong.yaml'), join(cwd, 'wrong.yaml'));
	const {stderr, code} = await runBridge(['config', '--check', 'wrong.yaml'], '', {cwd});
	t.is(code, 2);
	const [, ...shown] = transcripts[2] ?? [];
	t.deepEqual(stderr.trimEnd().split('\n'), shown);
});
