import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {parse as parseScript} from 'acorn';
import {parse as parsePython} from 'py-ast';
import {type FileExtension, fileExtensions, parseConfigText} from '../../lib/config/parse-text.js';
import {type Block, fileNameOf} from './blocks.js';
import type {Sandbox} from './sandbox.js';
import type {Shell} from './shell.js';

/** Keys that only files with servers contain, for bridge or for one of its clients. */
const serverKeys = ['servers', 'mcpServers', 'mcp_servers'];
/** Keys of the files of `bridge serve`. */
const sessionKeys = ['core', 'atm', 'plugins'];

const endingOf = ({language}: Block): FileExtension | undefined =>
	fileExtensions.find(ending => ending === `.${language}`);

const isIni = (text: string): boolean =>
	text.split('\n').every(line => /^\s*(?:[#;].*|\[[^\]]+\]|[\w.-]+\s*=.*)?$/.test(line));

/** The errors in the syntax of a block, or undefined if its language is not one that is parsed. */
export function syntaxErrors(block: Block): readonly string[] | undefined {
	const {language, text} = block;
	const ending = endingOf(block);
	if (ending !== undefined)
		return parseConfigText(text.replace(/^# /, '#'), ending).issues.map(({text}) => text);
	if (language === 'ini') return isIni(text) ? [] : ['This is not valid INI.'];
	if (language === 'python') return thrown(() => parsePython(text));
	if (language === 'js') return thrown(() => parseScript(text, {ecmaVersion: 2024, sourceType: 'module'}));
	return undefined;
}

function thrown(parse: () => unknown): string[] {
	try {
		parse();
		return [];
	} catch (error) {
		return [String(error)];
	}
}

/** Whether `bridge config` checks a block: it names servers, or is for `bridge serve`. */
function isConfiguration(block: Block): boolean {
	const ending = endingOf(block);
	if (ending === undefined) return false;
	const {value} = parseConfigText(block.text, ending);
	if (typeof value !== 'object' || value === null) return false;
	return [...serverKeys, ...sessionKeys].some(key => key in value);
}

/** The variables that a configuration needs to be set. */
const variablesIn = (text: string): string[] => [
	...new Set([...text.matchAll(/\$\{(?:env:)?([A-Z]\w*)\}/g)].map(([, name = '']) => name)),
];

/** Writes the file that a block shows to the location that its page expects. */
export function writeNamed(block: Block, {home, cwd, toLocal}: Sandbox): void {
	const name = fileNameOf(block);
	if (name === undefined) return;
	const file = name.startsWith('~/') ? join(home, name.slice(2)) : join(cwd, name);
	mkdirSync(dirname(file), {recursive: true});
	// JSON proper has no comments, and programs other than bridge read these files, too.
	const text = block.language === 'json' ? block.text.replace(/^\/\/.*\n/, '') : block.text;
	writeFileSync(file, toLocal(text), {mode: 0o600});
}

/** Checks a configuration block with `bridge config --check`. Returns the errors. */
export async function configurationErrors(
	block: Block,
	shell: Shell,
	sandbox: Sandbox,
): Promise<string | undefined> {
	if (!isConfiguration(block)) return undefined;
	const file = join(sandbox.folder, `block-${block.line}.${block.language}`);
	writeFileSync(file, block.text, {mode: 0o600});
	const variables = variablesIn(block.text).map(name => `${name}="\${${name}:-a-value-of-some-length}"`);
	const {output, code} = await shell.run(
		`${[...variables, 'bridge', 'config', '--check'].join(' ')} '${file}'`,
	);
	return code === 0 ? undefined : output;
}
