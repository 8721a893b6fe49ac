import {writeFileSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import test from 'ava';
import {childEnvironment, describeWithheld, isOnPath} from '../../../lib/transports/process/environment.js';
import {tempFolder} from '../../helpers/temp-folder.js';

test.serial('passes variables that programs need to run', t => {
	const inherited = {
		PATH: '/bin',
		HOME: '/root',
		LANG: 'C',
		LC_ALL: 'C.UTF-8',
		TZ: 'UTC',
		TMPDIR: '/tmp',
		SHELL: '/bin/sh',
	};
	t.deepEqual(childEnvironment({}, 'allowed', inherited), inherited);
});

test.serial('withholds all other variables', t => {
	const inherited = {
		AWS_SECRET_ACCESS_KEY: 'a',
		OPENAI_API_KEY: 'b',
		SSH_AUTH_SOCK: 'c',
		NODE_OPTIONS: '--inspect',
		LD_PRELOAD: 'd',
		BRIDGE_TOKEN: 'e',
		PATHS: 'f',
		XPATH: 'g',
	};
	t.deepEqual(childEnvironment({}, 'allowed', inherited), {});
});

test.serial('adds configured variables, which override inherited ones', t => {
	t.deepEqual(childEnvironment({PATH: '/opt', KEY: 'k'}, 'allowed', {PATH: '/bin', KEY: 'inherited'}), {
		PATH: '/opt',
		KEY: 'k',
	});
});

test.serial('passes all variables except those of bridge in the mode "all" [U-P0-1]', t => {
	const inherited = {API_KEY: 'a', NODE_OPTIONS: '', BRIDGE_TOKEN: 'b', Bridge_Config: 'c', BRIDGES: 'd'};
	t.deepEqual(childEnvironment({BRIDGE_X: 'x'}, 'all', inherited), {
		API_KEY: 'a',
		NODE_OPTIONS: '',
		BRIDGES: 'd',
		BRIDGE_X: 'x',
	});
});

test.serial('lists withheld variables, those in stderr first [U-P0-1]', t => {
	const inherited = {PATH: '/bin', B_KEY: '1', A_KEY: '2', BRIDGE_TOKEN: '3', _: '4', SHLVL: '5', SET: '6'};
	t.is(
		describeWithheld({SET: 'x'}, {stderrText: 'B_KEY is not set', remedy: 'Pass it.'}, inherited),
		'bridge did not pass these environment variables to it: B_KEY, A_KEY. Pass it.',
	);
	t.is(describeWithheld({}, {stderrText: '', remedy: 'Pass it.'}, {PATH: '/bin', LC_ALL: 'C'}), '');
});

test.serial('lists likely credentials before other withheld variables [U-P0-1]', t => {
	const others = Array.from({length: 30}, (_, at) => [`A_${at}`, 'x']);
	const inherited = {...Object.fromEntries(others), SLACK_TOKEN: 'x'};
	t.regex(
		describeWithheld({}, {stderrText: 'no', remedy: 'Pass it.'}, inherited),
		/ to it: SLACK_TOKEN, A_0, .*, 11 more\./,
	);
});

test.serial('matches variable names of Windows in any case', t => {
	const inherited = {Path: 'C:\\', SystemRoot: 'C:\\Windows', ComSpec: 'cmd.exe'};
	t.deepEqual(childEnvironment({}, 'allowed', inherited), inherited);
});

test.serial('omits undefined variables', t => {
	t.deepEqual(childEnvironment({}, 'allowed', {PATH: undefined}), {});
});

test.serial('does not modify its arguments', t => {
	const inherited = Object.freeze({PATH: '/bin'});
	const configured = Object.freeze({A: '1'});
	t.notThrows(() => childEnvironment(configured, 'allowed', inherited));
});

test.serial('finds a command in any folder of the PATH', t => {
	const folder = tempFolder(t);
	writeFileSync(join(folder, 'here'), '');
	const PATH = ['/no-such-folder', folder].join(delimiter);
	t.true(isOnPath('here', {PATH}));
	t.false(isOnPath('not-here', {PATH}));
	t.false(isOnPath('here', {}));
});
