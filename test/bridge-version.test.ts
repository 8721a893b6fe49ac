import {readFileSync} from 'node:fs';
import test from 'ava';
import {bridgeInfo} from '../lib/bridge-version.js';

test('upstreams see the version of package.json', t => {
	const {version} = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
	t.deepEqual(bridgeInfo, {name: 'bridge', version});
});
