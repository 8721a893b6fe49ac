// Runs tests: `node dist/test/runner/main.js fast|slow|own|peers|system`, or `… one|watch [test/FILE.test.ts …] [AVA FLAGS]`.
// CONTRIBUTING.md describes what each suite covers and needs.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync} from 'node:fs';
import {relative, resolve} from 'node:path';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import split2 from 'split2';
import {TestCounter} from './counter.js';
import {builtFile, needsPeers, suites, validatesMessages} from './suites.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const [suite = '', ...args] = process.argv.slice(2);

function fail(message: string): never {
	process.stderr.write(`${message}\n`);
	process.exit(2);
}

/** Maps the path of a test file to its built module. Other arguments are passed to ava. */
function selected(argument: string): string {
	if (!argument.endsWith('.test.ts')) return argument;
	const file = relative(root, resolve(process.env.INIT_CWD ?? root, argument));
	if (!existsSync(resolve(root, file)))
		fail(`Test file not found: ${argument}. Pass a path such as test/util/rate-limiter.test.ts.`);
	return builtFile(file);
}

/** The test files and flags for ava. */
function selection(): readonly string[] {
	if (suite !== 'one' && suite !== 'watch')
		return suites[suite] ?? fail(`No such suite: ${suite}. Use ${Object.keys(suites).join(', ')}.`);
	const selection = args.map(selected);
	// Without a file, ava would run all of them.
	if (!selection.some(each => each.endsWith('.test.js')))
		fail(`No test file given. Run: npm run test:${suite} -- test/util/rate-limiter.test.ts`);
	return suite === 'watch' ? ['--watch', ...selection] : selection;
}

async function run(
	command: readonly string[],
	stdio: 'inherit' | 'pipe',
	onLine?: (line: string) => void,
): Promise<number> {
	const [program = '', ...rest] = command;
	// Starting programs takes most of the time. Node 22 and later cache compiled code, which makes coverage less exact.
	const cache = process.env.NODE_V8_COVERAGE
		? {}
		: {NODE_COMPILE_CACHE: `${root}/node_modules/.cache/compiled`};
	const env = {...process.env, ...cache};
	const child = spawn(program, rest, {cwd: root, env, stdio: ['inherit', stdio, 'inherit']});
	const closed = once(child, 'close');
	for await (const line of child.stdout?.pipe(split2()) ?? []) {
		process.stdout.write(`${line}\n`);
		onLine?.(line);
	}
	const [code] = await closed;
	return code ?? 1;
}

const patterns = selection();
if (needsPeers(patterns)) {
	const code = await run([process.execPath, 'test/peers/install.mjs'], 'inherit');
	if (code !== 0) process.exit(code);
} else if (!process.env.MCP_SCHEMA_DIR && validatesMessages(patterns)) {
	process.stdout.write(
		'MCP_SCHEMA_DIR is not set: the tests against the official JSON schemas are not registered.\n',
	);
}

const ava = [process.execPath, 'node_modules/ava/entrypoints/cli.mjs', '--concurrency', '4', ...patterns];
if (suite === 'watch') {
	// The build exits when this process does: its IPC channel closes.
	const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
	const build = spawn(process.execPath, ['build.mjs', '--watch'], {cwd: root, stdio: [...stdio]});
	process.exitCode = await run(ava, 'inherit');
	build.kill();
} else {
	const counter = new TestCounter();
	const {summary, exitCode} = counter.end(await run(ava, 'pipe', line => counter.add(line)));
	process.stdout.write(`\n${summary}\n`);
	process.exitCode = exitCode;
}
