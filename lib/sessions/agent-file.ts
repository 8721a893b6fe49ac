import {realpath, stat} from 'node:fs/promises';
import {homedir} from 'node:os';
import {isAbsolute, join, relative, resolve, sep} from 'node:path';
import {shortened} from '../printable.js';
import {isCredentialFile} from '../store/credential-file.js';
import {NotPlain, readPlainText} from '../store/read-plain.js';
import {Refusal} from './refusal.js';

const MAX_BYTES = 256 * 1024;

/** Where files of agents may be: the folders that the session works in, and where people keep their own. */
export type AgentFileOptions = {
	/** A relative path is looked for in these, one after the other. */
	readonly bases: readonly string[];
	/** Nothing outside of these is read, whatever links lead there. */
	readonly roots: readonly string[];
};

/** Folders for the user's agents. Their parent folders also have credentials and transcripts. */
export const ownAgentFolders = (claude: string): string[] => [
	...[claude, join(homedir(), '.claude')].flatMap(folder =>
		['agents', 'commands', 'skills', 'plugins'].map(name => join(folder, name)),
	),
	...['agents', 'prompts', 'skills'].map(name => join(homedir(), '.codex', name)),
];

/** What an agent is told by its file: all of it but the front matter, which is for Claude Code. */
export async function readAgentFile(path: string, {bases, roots}: AgentFileOptions): Promise<string> {
	const named = fromHome(path);
	const places = isAbsolute(named) ? [named] : [...new Set(bases.map(base => resolve(base, named)))];
	for (const place of places) {
		const real = await realpath(place).catch(() => undefined);
		if (real === undefined) continue;
		if ((await stat(real).catch(() => undefined))?.isDirectory())
			throw unreadable(real, new NotPlain('it is a folder'));
		await checkPromptFile(real, roots, 'agent file');
		const text = await readPlainText(real, MAX_BYTES).catch(error => {
			throw unreadable(real, error);
		});
		const body = withoutFrontMatter(text ?? '');
		if (body.trim() === '') throw unreadable(real, new NotPlain('there is no text in it'));
		return body;
	}
	throw new Refusal(
		'agent_file_not_found',
		`There is no agent file at ${places.join(' nor at ')}. Name one that exists, relative to cwd or absolute.`,
		{path: places[0] ?? path},
	);
}

/** A path with the home folder for `~` at its start. */
export const fromHome = (path: string): string => path.replace(/^~(?=$|[/\\])/, homedir());

/** Rejects a file whose text must not become a prompt. The links in its path must be resolved. */
async function checkPromptFile(real: string, roots: readonly string[], what: string): Promise<void> {
	checkNoCredentials(real, what);
	const home = await realpath(homedir()).catch(() => homedir());
	for (const root of roots) {
		const from = await realpath(root).catch(() => root);
		// A session may work in the home folder or above it, where most files are not meant for prompts.
		if (isBelow(real, from) && from !== home && !isBelow(home, from)) return;
	}
	throw outside(real, roots, what);
}

function isBelow(path: string, folder: string): boolean {
	const way = relative(folder, path);
	return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Rejects a credential file. The links in its path must be resolved. */
export function checkNoCredentials(real: string, what: string): void {
	if (!isCredentialFile(real)) return;
	throw new Refusal(
		'agent_file_not_found',
		`The ${what} ${real} is a credential file, which must not become part of a prompt. Name a file with instructions.`,
		{path: real},
	);
}

/** Settings of Codex that name a file whose text becomes part of a prompt. */
const promptSettings = /(^|[._])(instructions|prompt)_file$/;

/** Rejects a configuration for Codex that names a file which could not be an agent file. */
export async function checkCodexConfig(
	config: unknown,
	cwd: string,
	roots: readonly string[],
): Promise<void> {
	for (const [key, value] of entriesOf(config)) {
		const names = key.endsWith('project_doc_fallback_filenames') && Array.isArray(value) ? value : [];
		for (const named of promptSettings.test(key) ? [value] : names) {
			if (typeof named !== 'string') continue;
			const path = resolve(cwd, fromHome(named));
			await checkPromptFile(await realpath(path).catch(() => path), roots, shortened(key));
		}
	}
}

/** All members of an object, those of objects in it included. */
function* entriesOf(config: unknown): Generator<[string, unknown]> {
	const left = [config];
	for (let value = left.pop(); value !== undefined; value = left.pop()) {
		if (typeof value !== 'object' || value === null) continue;
		for (const entry of Object.entries(value)) {
			yield entry;
			if (typeof entry[1] === 'object' && entry[1] !== null) left.push(entry[1]);
		}
	}
}

const withoutFrontMatter = (text: string): string =>
	text.replace(/^\uFEFF?---[^\S\n]*\r?\n[\s\S]*?\n---[^\S\n]*(?:\r?\n|$)/, '').trimStart();

const outside = (path: string, roots: readonly string[], what: string): Refusal =>
	new Refusal(
		'agent_file_not_found',
		`The ${what} ${path} is outside the folders that agent files may be in: ${roots.join(', ')}. Move it there, or add its folder to trusted_directories in your own configuration.`,
		{path},
	);

function unreadable(path: string, error: NodeJS.ErrnoException): Refusal {
	const reason = error instanceof NotPlain ? error.message : (error.code ?? error.message);
	const sentences = `The agent file ${path} cannot be used: ${reason}. Name a text file of at most ${MAX_BYTES / 1024} KiB.`;
	return new Refusal('agent_file_not_found', sentences, {path});
}
