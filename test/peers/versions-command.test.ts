import test from 'ava';
import {runBridge} from '../helpers/bridge.js';
import {serverOf, versions} from './eras.js';
import {newMarker} from './processes.js';

/* `bridge versions` of real servers, each of which speaks one version. */

for (const version of versions)
	test.serial(`bridge versions finds that a server speaks ${version}`, async t => {
		t.timeout(60_000);
		const {command, args, env = {}} = serverOf(version, newMarker(t));
		const given = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
		const {code, stdout} = await runBridge(['versions', ...given, '--', command, ...args]);
		t.is(code, 0);
		const text = stdout.join('\n');
		t.regex(text, new RegExp(`speaks +${version}\\n`));
		t.regex(text, new RegExp(`speaks ${version} with it`));
		t.regex(text, /offers +\d\d tools, \d prompts/);
		t.regex(text, new RegExp(`${version} {2}nothing$`, 'm'));
	});
