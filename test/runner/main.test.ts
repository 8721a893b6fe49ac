import {spawnSync} from 'node:child_process';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import test from 'ava';

const main = fileURLToPath(new URL('main.js', import.meta.url));
const root = fileURLToPath(new URL('../../..', import.meta.url));

const run = (...args: readonly string[]) =>
	spawnSync(process.execPath, [main, ...args], {
		cwd: root,
		encoding: 'utf8',
		env: {...process.env, INIT_CWD: root, MCP_SCHEMA_DIR: ''},
	});

test('runs one file, named by its source', t => {
	const {status, stdout} = run('one', 'test/util/rate-limiter.test.ts');
	t.notRegex(stdout, /MCP_SCHEMA_DIR/);
	t.regex(stdout, /\n2 passed, 0 failed, 0 skipped\n$/);
	t.is(status, 0);
});

test('reports that tests against the JSON schemas are not registered', t => {
	const {stdout} = run('one', 'test/protocol/version.test.ts');
	t.regex(stdout, /^MCP_SCHEMA_DIR is not set: .* not registered\.\n/);
});

test('forwards flags to ava', t => {
	const {status, stdout} = run('one', 'test/util/rate-limiter.test.ts', '--match', '*not count*');
	t.regex(stdout, /\n1 passed, 0 failed, 0 skipped\n$/);
	t.is(status, 0);
});

for (const [args, message] of [
	[['one', 'test/rat.test.ts'], /^Test file not found: test\/rat\.test\.ts\. Pass a path such as /],
	[['one'], /^No test file given\. Run: npm run test:one -- /],
	[['one', '--match', 'x'], /^No test file given\./],
	[['watch'], /^No test file given\. Run: npm run test:watch -- /],
	[['other'], /^No such suite: other\. Use fast, slow, own, peers, system\.$/m],
] as const)
	test(`rejects ${args.join(' ')}`, t => {
		const {status, stderr} = run(...args);
		t.regex(stderr, message);
		t.is(status, 2);
	});
