import test from 'ava';
import {type Block, blocksOf, pages, readPage} from './blocks.js';
import {runPage} from './run-page.js';

/** The number of pages that run at once. They mostly wait. */
let free = 4;
const waiting: Array<() => void> = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
	if (free > 0) free--;
	else await new Promise<void>(resolve => waiting.push(resolve));
	try {
		return await work();
	} finally {
		const next = waiting.shift();
		if (next) next();
		else free++;
	}
}

for (const file of pages)
	test(`runs the blocks of ${file} [U-P1-6] [U-P1-19]`, async t => {
		t.timeout(600_000);
		const page = {file, text: readPage(file), hasPeers: false};
		const {errors, run, parsed, skipped} = await inTurn(() => runPage(page));
		t.log(`${run.length} run, ${parsed.length} parsed, ${skipped.length} not run`);
		for (const line of skipped) t.log(line);
		t.is(errors.join('\n\n'), '');
	});

test('requires a reason for each block that is not run', t => {
	const blocks = pages.flatMap(file => blocksOf(file, readPage(file)));
	const count = (isCounted: (block: Block) => boolean): number => blocks.filter(isCounted).length;
	const isRun = ({language, reason}: Block): boolean => language === 'sh' && reason === undefined;
	t.log(`${pages.length} pages, ${blocks.length} blocks`);
	t.log(`${count(block => isRun(block) && !block.needsPeers)} run by npm test`);
	t.log(`${count(block => isRun(block) && block.needsPeers)} need npm run test:peers`);
	t.log(`${count(block => block.language === 'ts' && block.reason === undefined)} type-checked`);
	t.log(`${count(block => !['sh', 'ts'].includes(block.language) && block.reason === undefined)} parsed`);
	t.log(`${count(block => block.reason !== undefined)} neither run nor parsed`);
	for (const {reason = 'a reason'} of blocks) t.regex(reason, /\w+ \w+/);
});

test('reports a block whose output differs, with its line', async t => {
	const text = '# T\n\n```sh\n$ echo a\nb\n$ false\n```\n\n```text\nx\n```\n\n```yaml\na: [\n```\n';
	const {errors} = await runPage({file: 'p.md', text, hasPeers: false});
	t.is(errors.length, 4);
	t.regex(errors[0] ?? '', /^p\.md:4: \$ echo a\n--- expected\nb\n--- actual\na\n---$/);
	t.regex(errors[1] ?? '', /^p\.md:6: \$ false\nexits with 1/);
	t.regex(errors[2] ?? '', /^p\.md:9: .*"text"/);
	t.regex(errors[3] ?? '', /^p\.md:13: /);
});

test('runs a shell block in the background, interrupts it, and gives it the files of the page', async t => {
	const text = [
		'```yaml\n# bridge.yaml\nservers:\n  demo: {command: node, args: [x.js]}\n```',
		'```sh\n$ bridge gateway --config bridge.yaml --log-level error &\n…\n  page: http://127.0.0.1:7411/\n…',
		'$ curl -s http://127.0.0.1:7411/healthz\n…\n```',
		'```sh\n$ node -e "setInterval(() => {}, 1000); console.log(1234)"\n1234\n^C\n```\n',
	].join('\n\n');
	const {errors, run, parsed} = await runPage({file: 'p.md', text, hasPeers: false});
	t.deepEqual(errors, []);
	t.is(run.length + parsed.length, 3);
});
