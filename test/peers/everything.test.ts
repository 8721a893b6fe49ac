import test from 'ava';
import {everythingScript} from './everything-script.js';
import {everything} from './peers.js';
import {newMarker} from './processes.js';
import {compare} from './session.js';

test.serial(
	'an SDK session with server-everything is identical through bridge and leaves no process',
	async t => {
		t.timeout(60_000);
		await compare(t, async () => {
			const marker = newMarker(t);
			return {server: everything(marker), script: everythingScript(), marker};
		});
	},
);
