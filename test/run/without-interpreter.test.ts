import {cpSync, mkdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import test from 'ava';
import {Client} from 'sdk-2025-11-25/client/index.js';
import {StdioClientTransport} from 'sdk-2025-11-25/client/stdio.js';
import {tempFolder} from '../helpers/temp-folder.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Copies the built program into a folder without node_modules and returns its path. */
function copyProgram(folder: string): string {
	for (const path of ['package.json', 'dist/bin/bridge.js', 'dist/chunks', 'dist/lib/run/python/worker.js'])
		cpSync(join(root, path), join(folder, path), {recursive: true});
	return join(folder, 'dist/bin/bridge.js');
}

test('without python-wasi, only plain programs run, and others fail with the package name', async t => {
	const folder = tempFolder(t);
	const config = join(folder, 'config', 'bridge.json');
	mkdirSync(join(folder, 'config'));
	const demo = {command: process.execPath, args: [join(root, 'dist/bin/demo-server.js')]};
	writeFileSync(config, JSON.stringify({servers: {demo}}));
	const client = new Client({name: 'test', version: '1'});
	t.teardown(() => client.close());
	const args = [copyProgram(folder), 'hub', '--config', config];
	await client.connect(new StdioClientTransport({command: process.execPath, args, stderr: 'ignore'}));
	const run = (command: string) => client.callTool({name: 'run', arguments: {command}});
	t.like(await run('demo.add(a=2, b=40)'), {content: [{text: '42'}]});
	const failed = await run('[n * n for n in range(4)]');
	t.true(failed.isError);
	const [{text = ''} = {}] = failed.content as ReadonlyArray<{readonly text?: string}>;
	t.regex(text, /needs the Python interpreter.*`npm install @antonz\/python-wasi`/);
});
