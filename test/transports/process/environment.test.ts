import {writeFileSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import test from 'ava';
import {childEnvironment, describeWithheld, isOnPath} from '../../../lib/transports/process/environment.js';
import {tempFolder} from '../../helpers/temp-folder.js';

test.serial('lets pass what programs need to run', t => {
	const own = {
		PATH: '/bin',
		HOME: '/root',
		LANG: 'C',
		LC_ALL: 'C.UTF-8',
		TZ: 'UTC',
		TMPDIR: '/tmp',
		SHELL: '/bin/sh',
	};
	t.deepEqual(childEnvironment({}, 'allowed', own), own);
});

test.serial('keeps all else to itself', t => {
	const own = {
		AWS_SECRET_ACCESS_KEY: 'a',
		OPENAI_API_KEY: 'b',
		SSH_AUTH_SOCK: 'c',
		NODE_OPTIONS: '--inspect',
		LD_PRELOAD: 'd',
		BRIDGE_TOKEN: 'e',
		PATHS: 'f',
		XPATH: 'g',
	};
	t.deepEqual(childEnvironment({}, 'allowed', own), {});
});

test.serial('adds what is configured, which counts more', t => {
	t.deepEqual(childEnvironment({PATH: '/opt', KEY: 'k'}, 'allowed', {PATH: '/bin', KEY: 'own'}), {
		PATH: '/opt',
		KEY: 'k',
	});
});

test.serial('passes all on but variables of bridge itself, where that is wanted [U-P0-1]', t => {
	const own = {API_KEY: 'a', NODE_OPTIONS: '', BRIDGE_TOKEN: 'b', Bridge_Config: 'c', BRIDGES: 'd'};
	t.deepEqual(childEnvironment({BRIDGE_X: 'x'}, 'all', own), {
		API_KEY: 'a',
		NODE_OPTIONS: '',
		BRIDGES: 'd',
		BRIDGE_X: 'x',
	});
});

test.serial('names withheld variables, those that the child named first [U-P0-1]', t => {
	const own = {PATH: '/bin', B_KEY: '1', A_KEY: '2', BRIDGE_TOKEN: '3', _: '4', SHLVL: '5', SET: '6'};
	t.is(
		describeWithheld({SET: 'x'}, {said: 'B_KEY is not set', remedy: 'Pass it.'}, own),
		'bridge did not pass these environment variables to it: B_KEY, A_KEY. Pass it.',
	);
	t.is(describeWithheld({}, {said: '', remedy: 'Pass it.'}, {PATH: '/bin', LC_ALL: 'C'}), '');
});

test.serial('names variables of credentials before others, since not all are listed [U-P0-1]', t => {
	const others = Array.from({length: 30}, (_, at) => [`A_${at}`, 'x']);
	const own = {...Object.fromEntries(others), SLACK_TOKEN: 'x'};
	t.regex(
		describeWithheld({}, {said: 'no', remedy: 'Pass it.'}, own),
		/ to it: SLACK_TOKEN, A_0, .*, 11 more\./,
	);
});

test.serial('knows the names of Windows in any case', t => {
	const own = {Path: 'C:\\', SystemRoot: 'C:\\Windows', ComSpec: 'cmd.exe'};
	t.deepEqual(childEnvironment({}, 'allowed', own), own);
});

test.serial('leaves out what is not set', t => {
	t.deepEqual(childEnvironment({}, 'allowed', {PATH: undefined}), {});
});

test.serial('changes neither of the two', t => {
	const own = Object.freeze({PATH: '/bin'});
	const configured = Object.freeze({A: '1'});
	t.notThrows(() => childEnvironment(configured, 'allowed', own));
});

test.serial('finds a command in any folder of the PATH', t => {
	const folder = tempFolder(t);
	writeFileSync(join(folder, 'here'), '');
	const PATH = ['/no-such-folder', folder].join(delimiter);
	t.true(isOnPath('here', {PATH}));
	t.false(isOnPath('not-here', {PATH}));
	t.false(isOnPath('here', {}));
});
