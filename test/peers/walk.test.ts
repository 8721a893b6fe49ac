import {spawnSync} from 'node:child_process';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import test from 'ava';

const compile = fileURLToPath(new URL('../../../test/peers/compile-walk.mjs', import.meta.url));

test.serial('the committed WebAssembly in lib/wire/walk matches its source', t => {
	t.timeout(60_000);
	const {status} = spawnSync(process.execPath, [compile, '--check'], {stdio: 'inherit'});
	t.is(status, 0, 'run `npm run wasm`');
});
