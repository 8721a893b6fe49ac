// Runs a suite of tests: `node test/run.mjs fast|own|all|system [--node24]`.
//   fast    what is done in less than three minutes: own without the files that take long
//   own     all that needs nothing but this package
//   all     also the real servers and clients of test/peers, which are installed on first need
//   system  what needs Debian packages or root
import {spawn} from 'node:child_process';
import {existsSync} from 'node:fs';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import {slowFiles} from './slow.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const own = ['dist/test/*.test.js', 'dist/test/!(peers|system)/**/*.test.js'];
const suites = {
	fast: [...own, ...slowFiles.map(file => `!${file}`)],
	own,
	all: ['dist/test/*.test.js', 'dist/test/!(system)/**/*.test.js'],
	system: ['dist/test/system/**/*.test.js'],
};
const [suite, option] = process.argv.slice(2);
const patterns = suites[suite];
if (!patterns) {
	process.stderr.write(`There is no suite ${suite}: ${Object.keys(suites).join(', ')}.\n`);
	process.exit(2);
}

// Most of the time goes into starting programs. Node 22 and later keep what they have compiled.
const env = {...process.env, NODE_COMPILE_CACHE: `${root}/node_modules/.cache/compiled`};

function run(command, args) {
	return new Promise(resolve => {
		const child = spawn(command, args, {cwd: root, env, stdio: ['ignore', 'pipe', 'inherit']});
		let text = '';
		child.stdout.on('data', chunk => {
			process.stdout.write(chunk);
			text = (text + chunk).slice(-10_000);
		});
		child.on('close', code => resolve({code: code ?? 1, text}));
	});
}

if (!['fast', 'own'].includes(suite) || option === '--node24') {
	const {code} = await run(process.execPath, ['test/peers/install.mjs']);
	if (code !== 0) process.exit(code);
}
const node24 = `test/peers/node_modules/node24-${process.platform}-${process.arch}/bin/node`;
const node = option === '--node24' ? node24 : process.execPath;
if (option === '--node24' && !existsSync(`${root}/${node24}`)) {
	process.stderr.write(`There is no Node 24 for this system at ${node24}.\n`);
	process.exit(2);
}
const {code, text} = await run(node, ['node_modules/ava/entrypoints/cli.mjs', '--concurrency', '4', ...patterns]);

/** What ava says at its end: `12 tests passed`, `1 test skipped`, … */
const count = what => Number(new RegExp(`(\\d+) (?:known |unexpected )?[a-z ]*?${what}`).exec(text)?.[1] ?? 0);
const skipped = count('tests? skipped') + count('tests? todo');
process.stdout.write(`\n${count('tests? passed')} passed, ${count('tests? failed')} failed, ${skipped} skipped\n`);
// A test that does not run proves nothing.
process.exit(code !== 0 ? code : skipped > 0 ? 1 : 0);
