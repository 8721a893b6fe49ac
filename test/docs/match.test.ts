import test from 'ava';
import {blocksOf, fileNameOf} from './blocks.js';
import {matchesLine, matchesLines} from './match.js';
import {isComplete, stepsOf} from './transcript.js';

test('matches a line with other times, ports, ids, sizes and latencies', t => {
	t.true(matchesLine('05:30:13.455 → ping   #1   160 B', '23:01:00.001 → ping #1 1.5 kB'));
	t.true(
		matchesLine(
			'http://127.0.0.1:35677/?token=050bf882e542474c',
			'http://127.0.0.1:1/?token=ffffffffffffffff',
		),
	);
	t.true(matchesLine('0.8 s', '12.0 s'));
	t.false(matchesLine('3 compared', '4 compared'));
	t.false(matchesLine('"code":-31004', '"code":-31001'));
});

test('… matches any text of a line, and any lines if it is alone', t => {
	t.true(matchesLine('a … c', 'a b c'));
	t.true(matchesLine('a…c…e', 'abcde'));
	t.false(matchesLine('a … c', 'a b d'));
	t.false(matchesLine('ab…ba', 'aba'));
	t.true(matchesLines(['a', '…', 'd'], ['a', 'b', 'c', 'd']));
	t.true(matchesLines(['a', '…'], ['a']));
	t.false(matchesLines(['a', '…', 'd'], ['a', 'b', 'c']));
	t.false(matchesLines(['a'], ['a', 'b']));
});

test('parses the commands of a block and their outputs', t => {
	const text = "$ cat > a <<'EOF'\nx\nEOF\n$ cat a \\\n  b\nx\n…\n$ sleep 1 &\n$ view\nline\n^C\n";
	t.deepEqual(
		stepsOf({line: 10, text}).map(({line, command, mode, expected}) => [line, command, mode, expected]),
		[
			[11, "cat > a <<'EOF'\nx\nEOF", 'run', undefined],
			[14, 'cat a \\\n  b', 'run', ['x', '…']],
			[18, 'sleep 1 &', 'background', undefined],
			[19, 'view', 'interrupt', ['line']],
		],
	);
	t.is(stepsOf({line: 1, text: 'a  # comment\n\nb\n'}).length, 2);
});

test('continues a command inside quotes', t => {
	t.false(isComplete("echo 'a"));
	t.true(isComplete("echo 'a\nb'"));
	t.true(isComplete(`echo '{"a":1}' "it's"`));
	t.true(isComplete("bridge trust    # a file that you don't trust"));
});

test('reads the options of a block from the comment before it', t => {
	const page =
		'# T\n\n<!-- not run: needs a browser -->\n```sh\na\n```\n\n<!-- setup: mkdir x -->\n<!-- peers -->\n\n```yaml\n# a.yaml\nb: 1\n```\n\n```sh\nnpx -y mcp-stream-bridge -- npx -y x\n```\n';
	const [first, second, third] = blocksOf('p.md', page);
	t.like(first, {line: 4, language: 'sh', reason: 'needs a browser', needsPeers: false});
	t.like(second, {setup: 'mkdir x', needsPeers: true, reason: undefined});
	t.is(second && fileNameOf(second), 'a.yaml');
	t.like(third, {needsPeers: true, setup: undefined});
});

test('finds a block in a list and removes its indentation', t => {
	const [block] = blocksOf(
		'p.md',
		'1. x\n\n   <!-- not run: no reason -->\n   ```sh\n   $ a\n     b\n   ```\n',
	);
	t.like(block, {line: 4, language: 'sh', text: '$ a\n  b\n', reason: 'no reason'});
});
