import test from 'ava';
import {childEnvironment} from '../../lib/transports/environment.js';

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
	t.deepEqual(childEnvironment({}, own), own);
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
	t.deepEqual(childEnvironment({}, own), {});
});

test.serial('adds what is configured, which counts more', t => {
	t.deepEqual(childEnvironment({PATH: '/opt', KEY: 'k'}, {PATH: '/bin', KEY: 'own'}), {
		PATH: '/opt',
		KEY: 'k',
	});
});

test.serial('knows the names of Windows in any case', t => {
	const own = {Path: 'C:\\', SystemRoot: 'C:\\Windows', ComSpec: 'cmd.exe'};
	t.deepEqual(childEnvironment({}, own), own);
});

test.serial('leaves out what is not set', t => {
	t.deepEqual(childEnvironment({}, {PATH: undefined}), {});
});

test.serial('changes neither of the two', t => {
	const own = Object.freeze({PATH: '/bin'});
	const configured = Object.freeze({A: '1'});
	t.notThrows(() => childEnvironment(configured, own));
});
