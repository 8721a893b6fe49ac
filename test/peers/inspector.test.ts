import {execFile} from 'node:child_process';
import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {promisify} from 'node:util';
import test, {type ExecutionContext} from 'ava';
import {everything, inspectorFile, temporaryFolder, throughBridge} from './peers.js';
import {newMarker, survivorsOf} from './processes.js';

const run = promisify(execFile);

interface Outcome {
	readonly code: unknown;
	readonly stdout: unknown;
}

/** Runs the Inspector's command line as a user does; a failure of the Inspector is an outcome too. */
async function inspect(folder: string, server: string, method: readonly string[]): Promise<Outcome> {
	// The Inspector swallows a `--` on its command line, so the server's command comes from a file.
	const args = [
		inspectorFile,
		'--cli',
		'--config',
		join(folder, 'mcp.json'),
		'--server',
		server,
		'--method',
		...method,
	];
	// It keeps a catalog in the home directory, which must not be the user's.
	const env = {...process.env, HOME: folder};
	return run(process.execPath, args, {env, cwd: folder}).then(
		({stdout}) => ({code: 0, stdout}),
		(error: unknown) => ({
			code: Reflect.get(Object(error), 'code'),
			stdout: Reflect.get(Object(error), 'stdout'),
		}),
	);
}

async function sameInspection(t: ExecutionContext, method: readonly string[], code: number, part: string) {
	t.timeout(60_000);
	const folder = await temporaryFolder(t);
	const marker = newMarker(t);
	const mcpServers = {direct: everything(marker), through: throughBridge(everything(marker))};
	await writeFile(join(folder, 'mcp.json'), JSON.stringify({mcpServers}));
	const [direct, through] = await Promise.all([
		inspect(folder, 'direct', method),
		inspect(folder, 'through', method),
	]);
	t.deepEqual(through, direct);
	t.is(through.code, code);
	t.true(String(through.stdout).includes(part), 'the Inspector printed what was asked for');
	t.deepEqual(await survivorsOf(marker), []);
}

test.serial(
	'The Inspector lists the same tools',
	sameInspection,
	['tools/list'],
	0,
	'"get-structured-content"',
);

test.serial(
	'The Inspector gets the same result of a tool',
	sameInspection,
	['tools/call', '--tool-name', 'echo', '--tool-arg', 'message=hello ☃'],
	0,
	'Echo: hello ☃',
);

test.serial(
	'The Inspector gets the same error of a tool',
	sameInspection,
	['tools/call', '--tool-name', 'echo'],
	5,
	'Invalid arguments for tool echo',
);

test.serial(
	'The Inspector lists the same resources',
	sameInspection,
	['resources/list'],
	0,
	'instructions.md',
);

test.serial(
	'The Inspector lists the same prompts',
	sameInspection,
	['prompts/list'],
	0,
	'completable-prompt',
);
