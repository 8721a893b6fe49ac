import test from 'ava';
import type {ServeConfig} from '../../../lib/serve/config/types.js';
import {mergeLaunchArguments} from '../../../lib/serve/sessions/session-settings.js';
import type {JsonObject} from '../../../lib/util/json.js';

const preset = {model: 'quick', sandbox: undefined, approvalPolicy: undefined, reasoningEffort: 'low'};
const roles = new Map([['fast', preset]]);
const config = {role: undefined, roles, namedRoles: roles, resumedRoles: roles} as unknown as ServeConfig;

const launched = {model: 'one', sandbox: 'read-only', config: {model_reasoning_effort: 'high', other: 1}};
const after = (role: string | undefined, forwarded: JsonObject): JsonObject =>
	mergeLaunchArguments(launched, config, {
		identity: undefined,
		tag: undefined,
		autoMail: undefined,
		cwd: undefined,
		role,
		forwarded,
	});

test('a role in a later call replaces the settings that it defines, and arguments override it [S-D7]', t => {
	t.deepEqual(after('fast', {}), {sandbox: 'read-only', config: {other: 1}});
	t.deepEqual(after('fast', {model: 'two'}), {model: 'two', sandbox: 'read-only', config: {other: 1}});
	t.deepEqual(after(undefined, {model: 'two'}), {...launched, model: 'two'});
});
