import test from 'ava';
import {resolveConfig} from '../../lib/config/resolve-config.js';
import type {Config} from '../../lib/config/schema.js';
import {diffServices} from '../../lib/config/service-changes.js';

function configOf(servers: unknown, more: object = {}): Config {
	const {config, issues: mistakes} = resolveConfig({servers, ...more}, '/etc');
	if (!config) throw new Error(JSON.stringify(mistakes));
	return config;
}

/** The names alone. */
function names(before: Config, after: Config) {
	const {added, changed, removed} = diffServices(before, after);
	return {added: added.map(({name}) => name), changed: changed.map(({name}) => name), removed};
}

const a = {url: 'https://a/', headers: {X: '1', Y: '2'}};
const b = {command: 'b', args: ['1'], env: {A: '1'}};

test('names what was added, changed and removed, and nothing else', t => {
	const before = configOf({a, b, gone: b});
	const after = configOf({a, new: a, b: {...b, args: ['2']}});
	t.deepEqual(names(before, after), {added: ['new'], changed: ['b'], removed: ['gone']});
});

for (const [what, other] of [
	['url', {...a, url: 'https://a/other'}],
	['headers', {...a, headers: {X: '1', Y: '3'}}],
	['timeout', {...a, timeout: 61}],
	['enabled', {...a, enabled: false}],
	['transport', {...a, transport: 'http'}],
	['targetVersion', {...a, targetVersion: '2024-11-05'}],
] as const)
	test(`sees that ${what} is another`, t => {
		t.deepEqual(names(configOf({a}), configOf({a: other})).changed, ['a']);
	});

test('sees no change in another order of services or keys, in defaults that are written out, or in other keys', t => {
	const before = configOf({a, b});
	const {headers, url} = a;
	const after = configOf({b: {...b, enabled: true, timeout: 60}, a: {headers, url}}, {expose: 'both'});
	t.deepEqual(names(before, after), {added: [], changed: [], removed: []});
});
