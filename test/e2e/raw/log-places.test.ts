import {readdirSync, readFileSync} from 'node:fs';
import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import fc from 'fast-check';
import {logFileName, matchesFileNameFormat} from '../../../lib/traffic-log/log-file-name.js';
import {runBridge} from '../../helpers/bridge.js';
import {newFolder} from '../../helpers/program.js';
import {call, done, failureOf, postText} from './control.js';
import {linesIn, shareRaw, startRaw} from './support.js';

const shared = shareRaw(() => ['--mcp-port', '0', '--flush-millis', '20']);

/** Asserts that start-logging rejects the arguments with a matching error. */
async function assertRejected(
	t: ExecutionContext,
	args: object,
	reason: RegExp,
	endpoint = shared().endpoint,
): Promise<void> {
	const {code, message} = failureOf(await call(endpoint, 'start-logging', {...args}));
	t.is(code, -32_602);
	t.regex(message, reason);
}

for (const format of ['.bashrc', '.%Y', '%.profile'])
	test(`start-logging rejects a file whose name begins with a dot: ${format} [SEC-D3]`, async t => {
		const directory = await newFolder(t);
		await assertRejected(t, {directory, filename_format: format}, /begins with a dot/);
		t.deepEqual(readdirSync(directory), []);
	});

test('start-logging rejects an existing file that is not a traffic log [SEC-D3]', async t => {
	const directory = await newFolder(t);
	const file = join(directory, 'notes.txt');
	for (const content of [
		'hello\n',
		'{"time":1}\n',
		'{"a":"{\\"time\\":\\"2026-11-16T19:36:32.925754Z\\","}\n',
		'\n',
	]) {
		await writeFile(file, content);
		await assertRejected(
			t,
			{directory, filename_format: 'notes.txt'},
			/notes\.txt exists and is not a traffic log/,
		);
		t.is(await readFile(file, 'utf8'), content);
	}
});

test('start-logging rejects a format that will name an existing file later [SEC-D3]', async t => {
	const directory = await newFolder(t);
	await writeFile(join(directory, 'run-2099-01.sh'), '#!/bin/sh\n');
	await assertRejected(t, {directory, filename_format: 'run-%Y-%m.sh'}, /run-2099-01\.sh exists/);
	await done(shared().endpoint, 'start-logging', {directory, filename_format: 'other-%Y-%m.sh'});
	await done(shared().endpoint, 'stop-logging', {directory});
});

test('start-logging rejects a symbolic link, as a file and as a folder [SEC-D3]', async t => {
	const folder = await newFolder(t);
	const [logs, victim] = [join(folder, 'logs'), join(folder, 'victim')];
	await mkdir(logs);
	await writeFile(victim, '');
	await symlink(victim, join(logs, 'a.ndjson'));
	await assertRejected(t, {directory: logs, filename_format: 'a.ndjson'}, /a\.ndjson is a symbolic link/);
	await symlink(logs, join(folder, 'link'));
	await assertRejected(t, {directory: join(folder, 'link')}, /link is a symbolic link/);
	await mkdir(join(logs, 'b.ndjson'));
	await assertRejected(t, {directory: logs, filename_format: 'b.ndjson'}, /b\.ndjson is not a regular file/);
	t.is(readFileSync(victim, 'utf8'), '');
});

test('start-logging rejects a symbolic link in the path of the folder [SEC-D3]', async t => {
	const folder = await newFolder(t);
	const target = join(folder, 'target');
	await mkdir(join(target, 'there'), {recursive: true});
	await symlink(target, join(folder, 'via'));
	for (const sub of ['there', 'new', 'new/deeper'])
		await assertRejected(t, {directory: join(folder, 'via', sub)}, /via is a symbolic link/);
	t.deepEqual(readdirSync(target), ['there']);
	t.deepEqual(readdirSync(join(target, 'there')), []);
});

test('start-logging rejects a filename_format with a folder in it, also a dot folder [SEC-D3]', async t => {
	const directory = await newFolder(t);
	for (const filename_format of ['.ssh/rc', 'a/.b', '%/x', '..', '../x'])
		await assertRejected(t, {directory, filename_format}, /does not name a file in the log folder/);
	t.deepEqual(readdirSync(directory), []);
});

test('start-logging follows symbolic links in the path of --log-root, but not inside it [SEC-D3]', async t => {
	const folder = await newFolder(t);
	await mkdir(join(folder, 'target', 'logs'), {recursive: true});
	await symlink(join(folder, 'target'), join(folder, 'via'));
	const root = join(folder, 'via', 'logs');
	const {endpoint} = await startRaw(t, ['--mcp-port', '0', '--log-root', root]);
	for (const directory of [root, join(root, 'a', 'b')]) {
		await done(endpoint, 'start-logging', {directory});
		await done(endpoint, 'stop-logging', {directory});
	}
	await symlink(join(root, 'a'), join(root, 'inner'));
	await assertRejected(t, {directory: join(root, 'inner', 'b')}, /inner is a symbolic link/, endpoint);
});

test('start-logging appends to a traffic log and to an empty file [SEC-D3] [REQ_MCP_012]', async t => {
	const directory = await newFolder(t);
	await writeFile(join(directory, 'empty.ndjson'), '');
	for (const filename_format of ['empty.ndjson', 'empty.ndjson', 'new.ndjson', 'new.ndjson']) {
		await done(shared().endpoint, 'start-logging', {directory, filename_format});
		await done(shared().endpoint, 'stop-logging', {directory});
	}
	t.is(
		linesIn(directory).filter(({event, directory: d}) => event === 'start-logging' && d === directory).length,
		4,
	);
});

test('start-logging stays inside --log-root, also with .. and symbolic links [SEC-D3]', async t => {
	const folder = await newFolder(t);
	const [root, outside] = [join(folder, 'root'), join(folder, 'outside')];
	await mkdir(outside);
	const {endpoint} = await startRaw(t, ['--mcp-port', '0', '--flush-millis', '20', '--log-root', root]);
	await symlink(outside, join(root, 'link'));
	await symlink(join(folder, 'nowhere'), join(root, 'dangling'));
	for (const directory of [
		outside,
		folder,
		'/',
		`${root}/../outside`,
		`${root}/link/deeper`,
		`${root}-2`,
		'relative',
		`${root}/link/../../outside`,
		`${root}/a/../../outside`,
	])
		await assertRejected(t, {directory}, /is not inside .*root \(--log-root\)/, endpoint);
	await assertRejected(
		t,
		{directory: join(root, 'dangling', 'x')},
		/symbolic link whose target does not exist/,
		endpoint,
	);
	t.deepEqual(readdirSync(outside), []);
	t.deepEqual(readdirSync(folder).sort(), ['outside', 'root']);
	for (const directory of [root, join(root, 'a', 'b'), join(root, 'x', '..', 'y')]) {
		await done(endpoint, 'start-logging', {directory});
		await done(endpoint, 'stop-logging', {directory});
		t.is(
			linesIn(directory === root ? join(root, 'a', 'b') : directory)[0]?.directory ?? directory,
			directory,
		);
	}
	await done(endpoint, 'start-logging', {directory: null});
});

test('a format matches the file names that it produces and no others [SEC-D3]', t => {
	const part = fc.oneof(
		fc.constantFrom('%Y', '%m', '%d', '%H', '%M', '%S', '%%', '%x', '.', '-'),
		fc.string(),
	);
	const time = fc.integer({min: 0, max: 4e15});
	fc.assert(
		fc.property(fc.array(part), time, fc.string({minLength: 1}), (parts, at, more) => {
			const format = parts.join('');
			t.true(matchesFileNameFormat(format, logFileName(format, at)));
			t.false(matchesFileNameFormat(format, `${logFileName(format, at)}${more}`));
		}),
	);
	t.false(matchesFileNameFormat('a-%Y', 'a-20x6'));
	t.false(matchesFileNameFormat('a-%Y', 'a-202'));
});

const TOKEN = 'a-token-of-raw-that-is-long';
const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

for (const [how, args, variables] of [
	['--mcp-token', ['--mcp-token', TOKEN], {}],
	['BRIDGE_MCP_TOKEN', [], {BRIDGE_MCP_TOKEN: TOKEN}],
] as const)
	test(`${how} requires Authorization: Bearer, and the token is not on stdout [SEC-D3] [REQ_MCP_003]`, async t => {
		const env = {...process.env, ...variables};
		const {running, endpoint, lines} = await startRaw(t, ['--mcp-port', '0', ...args], {env});
		t.deepEqual(Object.keys(lines[0] ?? {}), ['time', 'event', 'endpoint']);
		const status = async (headers: {[name: string]: string}): Promise<number> =>
			(await postText(endpoint, ping, headers)).status;
		t.is(await status({}), 401);
		t.is(await status({authorization: 'Bearer another-token-of-length'}), 401);
		t.is(await status({authorization: TOKEN}), 401);
		t.is(await status({authorization: `Bearer ${TOKEN}`}), 200);
		running.child.kill();
		await running.exited;
		t.false(`${running.lines.join()}${running.stderr}`.includes(TOKEN));
	});

for (const [args, reason] of [
	[['--mcp-port', '0', '--mcp-token', 'short'], /too short/],
	[['0:127.0.0.1:9', '--log-root', '/tmp'], /Add --mcp-port/],
	[['--mcp-port', '0', '--log-root', '/dev/null'], /cannot be the folder for logs/],
] as const)
	test(`rejects bridge raw ${args.join(' ')} [SEC-D3]`, async t => {
		const {code, stderr} = await runBridge(['raw', ...args]);
		t.is(code, 2);
		t.regex(stderr, reason);
		t.notRegex(stderr, /bug/);
	});
