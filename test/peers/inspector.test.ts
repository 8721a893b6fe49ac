import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {inspect} from './inspector.js';
import {everything, temporaryFolder, throughBridge} from './peers.js';
import {newMarker, survivorsOf} from './processes.js';

/** The Inspector drops `--` from its command line, so a file contains the server's command. */
const listed = (folder: string, server: string): string[] => [
	'--config',
	join(folder, 'mcp.json'),
	'--server',
	server,
];

async function sameInspection(t: ExecutionContext, method: readonly string[], code: number, part: string) {
	t.timeout(60_000);
	const folder = await temporaryFolder(t);
	const marker = newMarker(t);
	const mcpServers = {direct: everything(marker), through: throughBridge(everything(marker))};
	await writeFile(join(folder, 'mcp.json'), JSON.stringify({mcpServers}));
	const [direct, through] = await Promise.all([
		inspect(folder, listed(folder, 'direct'), method),
		inspect(folder, listed(folder, 'through'), method),
	]);
	t.deepEqual(through, direct);
	t.is(through.code, code);
	t.true(String(through.stdout).includes(part), 'the Inspector printed the expected part');
	t.deepEqual(await survivorsOf(marker), []);
}

test.serial(
	'the Inspector lists the same tools',
	sameInspection,
	['tools/list'],
	0,
	'"get-structured-content"',
);

test.serial(
	'the Inspector gets the same result of a tool',
	sameInspection,
	['tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hello ☃'],
	0,
	'Echo: hello ☃',
);

test.serial(
	'the Inspector gets the same error of a tool',
	sameInspection,
	['tools/call', '--tool-name', 'echo'],
	5,
	'Invalid arguments for tool echo',
);

test.serial(
	'the Inspector lists the same resources',
	sameInspection,
	['resources/list'],
	0,
	'instructions.md',
);

test.serial(
	'the Inspector lists the same prompts',
	sameInspection,
	['prompts/list'],
	0,
	'completable-prompt',
);
