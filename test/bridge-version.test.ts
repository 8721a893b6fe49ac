import {readFileSync} from 'node:fs';
import test from 'ava';
import {bridgeInfo} from '../lib/bridge-version.js';

test('sends the version of package.json to upstreams', t => {
	const {version} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
	t.deepEqual(bridgeInfo, {name: 'bridge', version});
});
