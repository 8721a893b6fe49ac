import {execFile} from 'node:child_process';
import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import test from 'ava';
import {tempFolder} from '../helpers/temp-folder.js';
import {blocksOf, fileNameOf, pages, placeOf, readPage, root} from './blocks.js';

/** Runs the compiler of the project. Resolves to what it reports. */
const compile = (project: string): Promise<string> =>
	new Promise(resolve => {
		const file = join(root, 'node_modules/typescript/bin/tsc');
		execFile(process.execPath, [file, '-p', project], (_, stdout, stderr) => resolve(stdout + stderr));
	});

test('TypeScript blocks compile against the library [U-P1-7]', async t => {
	t.timeout(180_000);
	const folder = tempFolder(t);
	const blocks = pages
		.flatMap(file => blocksOf(file, readPage(file)))
		.filter(({language, reason}) => language === 'ts' && reason === undefined);
	t.true(blocks.length > 0);
	for (const [index, block] of blocks.entries()) {
		const name = join(folder, block.file, fileNameOf(block) ?? `block-${index}.ts`);
		mkdirSync(dirname(name), {recursive: true});
		writeFileSync(name, `// ${placeOf(block)}\n${block.text}`);
	}
	const options = {
		target: 'es2023',
		lib: ['es2023'],
		module: 'nodenext',
		strict: true,
		noEmit: true,
		skipLibCheck: true,
		types: ['node'],
		typeRoots: [join(root, 'node_modules/@types')],
		erasableSyntaxOnly: true,
		paths: {'mcp-stream-bridge': [join(root, 'lib/index.ts')]},
	};
	writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
	writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({compilerOptions: options, include: ['.']}));
	t.is(await compile(folder), '');
});
