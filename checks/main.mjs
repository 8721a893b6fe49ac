// Checks that Biome does not have: `node checks/main.mjs [FOLDER]`, part of `npm run lint`.
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {checkErrorCodes} from './error-codes.mjs';
import {checkExports} from './exports.mjs';
import {checkImports} from './imports.mjs';
import {checkLayers} from './layers.mjs';

const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url));
const problems = [checkLayers, checkImports, checkExports, checkErrorCodes].flatMap(check => check(root));
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0)
	process.stderr.write(`\n${problems.length} problems. docs/architecture.md describes the layers.\n`);
process.exitCode = problems.length > 0 ? 1 : 0;
