// Compiles lib/wire/walk/*.as.ts: `npm run wasm` writes the result to lib/wire/walk/wasm.ts, a test compares them.
import {spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const target = join(root, 'lib/wire/walk/wasm.ts');
const compiler = createRequire(import.meta.url).resolve('assemblyscript/bin/asc.js');
const flags = ['-O3', '--runtime', 'stub', '--enable', 'simd', '--noAssert', '--initialMemory', '1'];

const folder = mkdtempSync(join(tmpdir(), 'bridge-walk-'));
const file = join(folder, 'walk.wasm');
const source = join(root, 'lib/wire/walk/message.as.ts');
const run = spawnSync(process.execPath, [compiler, source, ...flags, '--outFile', file], {stdio: 'inherit'});
if (run.status !== 0) process.exit(1);
const bytes = readFileSync(file);
rmSync(folder, {recursive: true});

const text = `/** Made by \`npm run wasm\` of the *.as.ts files beside it. */\nexport const wasm =\n\t'${bytes.toString('base64')}';\n`;
if (process.argv[2] === '--check') process.exit(readFileSync(target, 'utf8') === text ? 0 : 3);
writeFileSync(target, text);
process.stdout.write(`${bytes.length} bytes\n`);
