// Compiles *.as.ts: `npm run wasm` writes the results to files named wasm.ts beside them, tests compare these.
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = ['lib/wire/walk/message.as.ts', 'lib/traffic-log/percent/percent.as.ts'];
const compiler = createRequire(import.meta.url).resolve('assemblyscript/bin/asc.js');
const flags = ['-O3', '--runtime', 'stub', '--enable', 'simd', '--noAssert', '--initialMemory', '1'];
const folder = mkdtempSync(join(tmpdir(), 'bridge-wasm-'));

for (const source of sources) {
	const target = join(root, dirname(source), 'wasm.ts');
	const file = join(folder, 'module.wasm');
	const run = spawnSync(process.execPath, [compiler, join(root, source), ...flags, '--outFile', file], {
		stdio: 'inherit',
	});
	if (run.status !== 0) process.exit(1);
	const bytes = readFileSync(file);
	const text = `/** Made by \`npm run wasm\` of the *.as.ts files beside it. */\nexport const wasm =\n\t'${bytes.toString('base64')}';\n`;
	if (process.argv[2] === '--check') {
		if (readFileSync(target, 'utf8') !== text) process.exit(3);
		continue;
	}
	writeFileSync(target, text);
	process.stdout.write(`${source}: ${bytes.length} bytes\n`);
}
rmSync(folder, {recursive: true});
