// Checks that Biome does not have: `node checks/main.mjs [FOLDER]`, part of `npm run lint`.
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {checkErrorCodes} from './error-codes.mjs';
import {checkExports} from './exports.mjs';
import {checkImports} from './imports.mjs';
import {checkLayers} from './layers.mjs';
import {checkRequirements} from './requirements.mjs';
import {checkWords} from './words.mjs';

const root = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url));
const problems = [
	checkLayers,
	checkImports,
	checkExports,
	checkErrorCodes,
	checkRequirements,
	checkWords,
].flatMap(check => check(root));
for (const problem of problems) process.stderr.write(`${problem}\n`);
if (problems.length > 0)
	process.stderr.write(
		`\n${problems.length} problems. docs/architecture.md describes the layers, docs/glossary.md the words.\n`,
	);
process.exitCode = problems.length > 0 ? 1 : 0;
