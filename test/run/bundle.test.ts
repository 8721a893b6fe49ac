import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, mkdirSync, rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import test from 'ava';
import {build} from 'esbuild';

const dist = new URL('../../', import.meta.url);

test('finds the interpreter from a bundle', async t => {
	const folder = new URL(`test-${process.pid}/`, dist);
	mkdirSync(folder, {recursive: true});
	t.teardown(() => rmSync(folder, {recursive: true}));
	const file = fileURLToPath(new URL('program.js', folder));
	const program = `
		import {createRunner} from './run/runner.js';
		const runner = createRunner({packs: () => [], log: {}});
		const {content} = await runner.run('[n * n for n in range(4)]');
		process.stdout.write(content[0].text);
		await runner.close();
	`;
	await build({
		stdin: {contents: program, resolveDir: fileURLToPath(new URL('lib', dist))},
		bundle: true,
		platform: 'node',
		format: 'esm',
		outfile: file,
	});
	t.true(existsSync(file));
	const child = spawn(process.execPath, [file], {stdio: ['ignore', 'pipe', 'inherit']});
	let text = '';
	child.stdout.on('data', chunk => {
		text += chunk;
	});
	const [code] = await once(child, 'close');
	t.is(text, '[0,1,4,9]');
	t.is(code, 0);
});
