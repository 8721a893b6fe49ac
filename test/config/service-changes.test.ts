import test from 'ava';
import {resolveConfig} from '../../lib/config/resolve-config.js';
import type {Config} from '../../lib/config/schema.js';
import {diffServices} from '../../lib/config/service-changes.js';

function configOf(servers: unknown, more: object = {}): Config {
	const {config, issues} = resolveConfig({servers, ...more}, '/etc');
	if (!config) throw new Error(JSON.stringify(issues));
	return config;
}

function names(before: Config, after: Config) {
	const {added, changed, removed} = diffServices(before, after);
	return {added: added.map(({name}) => name), changed: changed.map(({name}) => name), removed};
}

const a = {url: 'https://a/', headers: {X: '1', Y: '2'}};
const b = {command: 'b', args: ['1'], env: {A: '1'}};

test('returns only added, changed and removed services', t => {
	const before = configOf({a, b, old: b});
	const after = configOf({a, new: a, b: {...b, args: ['2']}});
	t.deepEqual(names(before, after), {added: ['new'], changed: ['b'], removed: ['old']});
});

for (const [key, other] of [
	['url', {...a, url: 'https://a/other'}],
	['headers', {...a, headers: {X: '1', Y: '3'}}],
	['timeout', {...a, timeout: 61}],
	['enabled', {...a, enabled: false}],
	['transport', {...a, transport: 'http'}],
	['targetVersion', {...a, targetVersion: '2024-11-05'}],
] as const)
	test(`detects a changed ${key}`, t => {
		t.deepEqual(names(configOf({a}), configOf({a: other})).changed, ['a']);
	});

test('ignores the order of services and keys, explicit defaults and other settings', t => {
	const before = configOf({a, b});
	const {headers, url} = a;
	const after = configOf({b: {...b, enabled: true, timeout: 60}, a: {headers, url}}, {expose: 'both'});
	t.deepEqual(names(before, after), {added: [], changed: [], removed: []});
});
