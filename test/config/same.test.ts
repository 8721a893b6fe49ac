import test from 'ava';
import fc from 'fast-check';
import {stringify as toToml} from 'smol-toml';
import {stringify as toYaml} from 'yaml';
import {parseConfigText} from '../../lib/config/parse-text.js';
import {resolveConfig} from '../../lib/config/resolve-config.js';
import {comparable} from './support.js';

const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, {nil: undefined});
const text = fc.string({unit: 'binary', minLength: 1, maxLength: 20}).filter(value => !value.includes('\0'));
const latin = fc.stringMatching(/^[\x20-\x7e\xa0-\xff]{0,20}$/);
const named = (name: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
	fc.dictionary(name, value, {maxKeys: 3}).map(record => Object.fromEntries(Object.entries(record)));

const common = {
	cacheTools: optional(fc.boolean()),
	timeout: optional(fc.oneof(fc.nat(1000), fc.constantFrom('90s', '2m', '0.5'))),
	enabled: optional(fc.boolean()),
	strict: optional(fc.boolean()),
	targetVersion: optional(fc.constantFrom('2024-11-05', '2026-07-28')),
};
const remote = fc.record({
	...common,
	url: fc.webUrl({withQueryParameters: true}),
	headers: optional(named(fc.stringMatching(/^x-[a-z]{1,8}$/), latin)),
	insecure: optional(fc.boolean()),
});
const local = fc.record({
	...common,
	command: text,
	args: optional(fc.array(text, {maxLength: 4})),
	env: optional(named(fc.stringMatching(/^[A-Z_]{1,8}$/), text)),
	cwd: optional(text),
});
const file = fc.record({
	listen: optional(fc.constantFrom<string | number>('127.0.0.1:1', 'localhost:0', '[::1]:9', 7)),
	tokens: optional(fc.array(fc.stringMatching(/^[\x21-\x7e]{16,30}$/), {maxLength: 3})),
	expose: optional(fc.constantFrom('run', 'tools', 'both')),
	limits: optional(
		fc.record({message: fc.constant('1MiB'), sessions: optional(fc.integer({min: 1, max: 1e6}))}),
	),
	secret: optional(fc.stringMatching(/^[\x21-\x7e]{16,30}$/)),
	servers: fc.dictionary(fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,20}$/), fc.oneof(remote, local), {
		maxKeys: 4,
	}),
});

/** Removes undefined values, which no syntax can represent. */
const plain = (value: unknown): object => JSON.parse(JSON.stringify(value)) as object;

test('YAML, JSON and TOML produce the same configuration', t => {
	fc.assert(
		fc.property(file, input => {
			const value = plain(input);
			const {config, issues} = resolveConfig(value, '/etc');
			t.deepEqual(issues, []);
			const expected = comparable(config);
			const texts = [
				['.yaml', toYaml(value)],
				['.json', JSON.stringify(value, undefined, '\t')],
				// JSON is also valid YAML.
				['.yml', JSON.stringify(value)],
				['.toml', toToml(value)],
			] as const;
			for (const [ending, written] of texts) {
				const parsed = parseConfigText(written, ending);
				t.deepEqual(parsed.issues, [], `${ending}: ${written}`);
				t.deepEqual(
					comparable(resolveConfig(parsed.value, '/etc').config),
					expected,
					`${ending}: ${written}`,
				);
			}
		}),
		{numRuns: 200},
	);
});

test('any text results in a value or in issues', t => {
	const odd = fc.oneof(
		fc.string({unit: 'binary', maxLength: 60}),
		fc.string({unit: fc.constantFrom(...'{}[]:,"\'#&*!|>-=\n\t a1/\\$%@`~<?'), maxLength: 40}),
	);
	fc.assert(
		fc.property(odd, fc.constantFrom('.yaml', '.json', '.toml'), (written, ending) => {
			const {value, issues} = parseConfigText(written, ending);
			const resolved = issues.length > 0 ? undefined : resolveConfig(value, '/etc');
			t.true(issues.length > 0 || resolved !== undefined);
		}),
		{numRuns: 3000},
	);
});
