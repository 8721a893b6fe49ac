import {readFile} from 'node:fs/promises';
import test from 'ava';
import {knownKeys} from '../../../lib/config/schema.js';
import {loaded} from '../../config/support.js';

const docs = await readFile(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
const blocks = [...docs.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
	language,
	text,
}));
/* test/docs runs the shell commands of this page. */
const examples = blocks.filter(({language}) => language !== 'sh');

const environment = {
	BRIDGE_TOKEN: 'a token of some length'.replaceAll(' ', '-'),
	BRIDGE_SECRET: 'a secret of some length',
	LEGACY_KEY: 'k',
	HOME: '/home/me',
};

test('docs/configuration.md contains examples in every syntax', t => {
	t.deepEqual(new Set(examples.map(({language}) => language)), new Set(['yaml', 'json', 'toml']));
});

for (const [index, {language, text}] of examples.entries())
	test(`docs/configuration.md: example ${index + 1} in ${language} is a valid configuration`, async t => {
		const {config} = await loaded(t, text, {name: `bridge.${language}`, environment});
		t.true(config.services.size > 0);
	});

for (const [kind, keys] of Object.entries(knownKeys))
	for (const key of keys)
		test(`docs/configuration.md describes ${kind} ${key}`, t => {
			t.true(docs.includes(kind === 'limits' ? `\`limits.${key}\`` : `\`${key}\``));
		});
