// Runs scripts of package.json on Node 24: `npm run test:node24 [-- SCRIPT …]`, by default `test` and `test:peers`.
import {spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {delimiter, dirname} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {node24} from '../peers/peers.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const env = {...process.env, PATH: `${dirname(node24)}${delimiter}${process.env.PATH}`};

function run(program: string, args: readonly string[]): void {
	const {status} = spawnSync(program, args, {
		cwd: root,
		env,
		stdio: 'inherit',
		shell: process.platform === 'win32',
	});
	if (status !== 0) process.exit(status ?? 1);
}

run(process.execPath, ['test/peers/install.mjs']);
if (!existsSync(node24)) {
	process.stderr.write(
		`Node 24 is not available for ${process.platform}-${process.arch} (${node24}). Install Node 24 and run npm test with it.\n`,
	);
	process.exit(2);
}
const scripts = process.argv.slice(2);
for (const script of scripts.length > 0 ? scripts : ['test', 'test:peers']) run('npm', ['run', script]);
