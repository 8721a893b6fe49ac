import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {tempFolder} from '../helpers/temp-folder.js';
import {parseCopy, parseDockerfile} from './dockerfile.js';
import {buildImage} from './image-build.js';

function context(t: ExecutionContext, files: {readonly [path: string]: string}) {
	const folder = tempFolder(t);
	for (const [path, text] of Object.entries(files)) {
		mkdirSync(dirname(join(folder, 'context', path)), {recursive: true});
		writeFileSync(join(folder, 'context', path), text);
	}
	mkdirSync(join(folder, 'stages'));
	const lines: string[] = [];
	const report = (line: string): void => void lines.push(line);
	return {lines, options: {context: join(folder, 'context'), folder: join(folder, 'stages'), report}};
}

test('splits a Dockerfile into stages and joins continued lines', t => {
	const text = '# comment\nFROM a AS one\nRUN x \\\n\ty\n\n# comment\nFROM b\nCOPY --from=one /x .\n';
	t.deepEqual(parseDockerfile(text), [
		{name: 'one', instructions: [{keyword: 'RUN', text: 'x y'}]},
		{name: '1', instructions: [{keyword: 'COPY', text: '--from=one /x .'}]},
	]);
	t.throws(() => parseDockerfile('RUN\n'), {message: /without an instruction: RUN/});
	t.throws(() => parseDockerfile(''), {message: /no FROM/});
});

test('parses the operands of a COPY and rejects flags that it does not support', t => {
	t.deepEqual(parseCopy('--from=one a b c/'), {from: 'one', sources: ['a', 'b'], target: 'c/'});
	t.throws(() => parseCopy('--exclude=*.md . .'), {message: /not supported/});
	t.throws(() => parseCopy('a'), {message: /not supported/});
});

test('runs COPY and RUN of each stage in a folder and skips apt-get', async t => {
	const dockerfile = [
		'FROM x AS build',
		'WORKDIR /src',
		'COPY a.txt ./',
		'RUN cat a.txt > b.txt',
		'COPY . .',
		'FROM x',
		'RUN apt-get update',
		'WORKDIR /app',
		'COPY --from=build /src ./src',
		'ENTRYPOINT ["node", "/app/x"]',
	].join('\n');
	const files = {'a.txt': 'a', 'deep/c.txt': 'c', 'secret/d.txt': 'd', '.dockerignore': 'secret\n'};
	const {lines, options} = context(t, {...files, Dockerfile: dockerfile});
	const {root, entrypoint} = await buildImage(options);
	t.deepEqual(entrypoint, ['node', '/app/x']);
	t.is(readFileSync(join(root, 'app/src/b.txt'), 'utf8'), 'a');
	t.is(readFileSync(join(root, 'app/src/deep/c.txt'), 'utf8'), 'c');
	t.false(existsSync(join(root, 'app/src/secret')));
	t.deepEqual(lines, [
		'build: COPY a.txt ./',
		'build: RUN cat a.txt > b.txt',
		'build: COPY . .',
		'1: skipped: RUN apt-get update',
		'1: COPY --from=build /src ./src',
	]);
});

test('rejects a failed command, an absolute path in a command and a COPY of an excluded file', async t => {
	for (const [line, message] of [
		['RUN exit 3', /sh -c exit 3 ended with 3/],
		['RUN cat /src/a.txt', /RUN cat \/src\/a\.txt has an absolute path/],
		['COPY secret ./', /COPY secret: .*\.dockerignore excludes it/],
		['COPY missing ./', /COPY missing: the file does not exist/],
	] as const) {
		const files = {'secret/d.txt': 'd', '.dockerignore': 'secret\n', Dockerfile: `FROM x\n${line}\n`};
		await t.throwsAsync(buildImage(context(t, files).options), {message});
	}
});
