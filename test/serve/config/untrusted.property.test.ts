import test from 'ava';
import fc from 'fast-check';
import {stringify} from 'smol-toml';
import type {RolePreset} from '../../../lib/serve/config/types.js';
import {createFixture} from './support.js';

const sandboxes = ['read-only', 'workspace-write', 'danger-full-access', 'bogus'];
const policies = ['untrusted', 'on-request', 'on-failure', 'never', 'NEVER'];

const text = (values: object): string => stringify({plugins: {'codex-mcp': values}});
const rankOf = (order: readonly string[], value: string | undefined): number =>
	Math.max(0, order.indexOf(value ?? ''));
const isNotLooser = (one: RolePreset | undefined, bound: RolePreset | undefined): boolean =>
	(
		[
			[sandboxes, 'sandbox'],
			[policies, 'approvalPolicy'],
		] as const
	).every(([order, key]) => {
		const [value, limit] = [one?.[key], bound?.[key]];
		if (value === limit) return true;
		return (
			value !== undefined &&
			order.indexOf(value) < order.length - 1 &&
			rankOf(order, value) <= rankOf(order, limit)
		);
	});

test('property: never loosens a restriction because of an untrusted file [SEC-D6]', async t => {
	const {load, writeRepoFile, writeUserFile} = createFixture(t);
	const settings = fc.record(
		{sandbox: fc.constantFrom(...sandboxes), approval_policy: fc.constantFrom(...policies)},
		{requiredKeys: []},
	);
	const roles = fc.dictionary(fc.constantFrom('r', 's'), settings);
	const file = fc
		.tuple(settings, roles, fc.option(fc.constantFrom('r', 's', 'none'), {nil: undefined}))
		.map(([values, presets, role]) => ({...values, roles: presets, ...(role === undefined ? {} : {role})}));
	const flagsArbitrary = fc.record(
		{
			sandbox: fc.constantFrom('read-only', 'workspace-write', 'danger-full-access'),
			approvalPolicy: fc.constantFrom('untrusted', 'on-request', 'never'),
			role: fc.constantFrom('r', 's'),
		},
		{requiredKeys: []},
	);
	await fc.assert(
		fc.asyncProperty(
			file,
			file,
			flagsArbitrary,
			fc.option(fc.constantFrom('r', 's'), {nil: undefined}),
			async (mine, theirs, flags, variable) => {
				const env = variable === undefined ? {} : {ATM_AGENT_MCP_ROLE: variable};
				const {role: chosen} = flags;
				// A flag for a role that does not exist is an error.
				fc.pre(chosen === undefined || chosen in mine.roles || chosen in theirs.roles);
				writeUserFile(text(chosen === undefined ? mine : {...mine, roles: {[chosen]: {}, ...mine.roles}}));
				writeRepoFile('');
				const {config: without} = await load(flags, env);
				writeUserFile(text(mine));
				writeRepoFile(text(theirs));
				const {config} = await load(flags, env);
				const details = JSON.stringify({mine, theirs, flags, variable, config, without});
				t.true(isNotLooser(config, without), details);
				for (const role of config.roles.keys())
					for (const table of ['namedRoles', 'resumedRoles'] as const)
						t.true(
							isNotLooser(config[table].get(role), without[table].get(role) ?? without),
							`${table} ${role} ${details}`,
						);
			},
		),
		{numRuns: 300},
	);
});
