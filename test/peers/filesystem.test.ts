import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import test from 'ava';
import {serverFile, temporaryFolder} from './peers.js';
import {compare, type Script, type Session} from './session.js';

async function fill(folder: string): Promise<void> {
	await mkdir(join(folder, 'deep', 'deeper'), {recursive: true});
	await writeFile(join(folder, 'poem.txt'), 'one\ntwo\nthree\nfour\n');
	await writeFile(join(folder, 'deep', 'naïve ☃.txt'), 'Grüße\r\n');
	await writeFile(
		join(folder, 'deep', 'deeper', 'pixel.png'),
		Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]),
	);
	await writeFile(join(folder, 'large.txt'), 'a line of a large file\n'.repeat(20_000));
}

async function look({client, sdk, note, step}: Session, call: Call, folder: string): Promise<void> {
	note('server', [client.getServerVersion(), client.getServerCapabilities(), client.getInstructions()]);
	await step('tools', client.listTools());
	// A method that the server does not implement.
	await step('prompts', client.request({method: 'prompts/list'}, sdk.schema('ListPromptsResultSchema')));
	await call('list_directory', {path: folder});
	await call('list_directory_with_sizes', {path: folder, sortBy: 'size'});
	await call('directory_tree', {path: folder});
	await call('search_files', {path: folder, pattern: '**/*.txt'});
	await call('get_file_info', {path: join(folder, 'poem.txt')});
}

async function readAndWrite(call: Call, folder: string): Promise<void> {
	const poem = join(folder, 'poem.txt');
	const fresh = join(folder, 'new', 'fresh.txt');
	await call('read_text_file', {path: poem});
	await call('read_text_file', {path: poem, tail: 2});
	await call('read_text_file', {path: join(folder, 'large.txt')});
	await call('read_media_file', {path: join(folder, 'deep', 'deeper', 'pixel.png')});
	await call('read_multiple_files', {
		paths: [poem, join(folder, 'missing.txt'), join(folder, 'deep', 'naïve ☃.txt')],
	});
	await call('create_directory', {path: join(folder, 'new')});
	await call('write_file', {path: fresh, content: 'written through MCP\nπ ≈ 3\n'});
	const edits = [{oldText: 'π ≈ 3', newText: 'π ≈ 3.14'}];
	await call('edit_file', {path: fresh, edits, dryRun: true});
	await call('edit_file', {path: fresh, edits});
	await call('edit_file', {path: fresh, edits: [{oldText: 'not in it', newText: ''}]});
	await call('read_text_file', {path: fresh});
	await call('move_file', {source: fresh, destination: join(folder, 'new', 'moved.txt')});
	await call('list_directory', {path: join(folder, 'new')});
}

async function goTooFar(call: Call): Promise<void> {
	await call('read_text_file', {path: '/etc/passwd'});
	await call('write_file', {path: '/bridge-peers-outside.txt', content: 'never'});
	await call('read_text_file', {});
	await call('list_allowed_directories', {});
}

type Call = (name: string, args: object) => Promise<void>;

function script(folder: string): Script {
	return {
		capabilities: {roots: {}},
		prepare({client, sdk}) {
			// The server replaces its arguments with the roots. They are the same folder, so that the timing
			// does not matter.
			const roots = [{uri: pathToFileURL(folder).href, name: 'the folder'}];
			client.setRequestHandler(sdk.schema('ListRootsRequestSchema'), () => ({roots}));
		},
		async play(session) {
			await session.seen('roots/list');
			const call: Call = (name, args) => session.step(name, session.client.callTool({name, arguments: args}));
			await look(session, call, folder);
			await readAndWrite(call, folder);
			await goTooFar(call);
		},
	};
}

test.serial(
	'an SDK session with server-filesystem is identical through bridge and leaves no process',
	async t => {
		t.timeout(60_000);
		await compare(t, async () => {
			const folder = await temporaryFolder(t);
			await fill(folder);
			const server = {command: process.execPath, args: [serverFile('filesystem'), folder]};
			return {server, script: script(folder), marker: folder};
		});
	},
);
