import {realpath, stat} from 'node:fs/promises';
import {homedir} from 'node:os';
import {isAbsolute, join, relative, resolve, sep} from 'node:path';
import {isCredentialFile} from '../../files/credential-file.js';
import {FileRejectedError, readRegularTextFile} from '../../files/read-regular-file.js';
import {shortened} from '../../util/printable.js';
import {ToolError} from './tool-error.js';

const MAX_BYTES = 256 * 1024;

/** Where files of agents may be: the folders that the session works in, and where people keep their own. */
type AgentFileOptions = {
	/** A relative path is looked for in these, one after the other. */
	readonly bases: readonly string[];
	/** Nothing outside of these is read, whatever links lead there. */
	readonly roots: readonly string[];
};

/** Folders for the user's agents. Their parent folders also have credentials and transcripts. */
export const userAgentFolders = (claude: string): string[] => [
	...[claude, join(homedir(), '.claude')].flatMap(folder =>
		['agents', 'commands', 'skills', 'plugins'].map(name => join(folder, name)),
	),
	...['agents', 'prompts', 'skills'].map(name => join(homedir(), '.codex', name)),
];

/** What an agent is told by its file: all of it but the front matter, which is for Claude Code. */
export async function readAgentFile(path: string, {bases, roots}: AgentFileOptions): Promise<string> {
	const expandedPath = expandHome(path);
	const candidates = isAbsolute(expandedPath)
		? [expandedPath]
		: [...new Set(bases.map(base => resolve(base, expandedPath)))];
	for (const candidate of candidates) {
		const realPath = await realpath(candidate).catch(() => undefined);
		if (realPath === undefined) continue;
		if ((await stat(realPath).catch(() => undefined))?.isDirectory())
			throw unreadableAgentFile(realPath, new FileRejectedError('it is a folder'));
		await assertPromptFileAllowed(realPath, roots, 'agent file');
		const text = await readRegularTextFile(realPath, MAX_BYTES).catch(error => {
			throw unreadableAgentFile(realPath, error);
		});
		const body = withoutFrontMatter(text ?? '');
		if (body.trim() === '')
			throw unreadableAgentFile(realPath, new FileRejectedError('there is no text in it'));
		return body;
	}
	throw new ToolError(
		'agent_file_not_found',
		`There is no agent file at ${candidates.join(' nor at ')}. Name one that exists, relative to cwd or absolute.`,
		{path: candidates[0] ?? path},
	);
}

/** A path with the home folder for `~` at its start. */
export const expandHome = (path: string): string => path.replace(/^~(?=$|[/\\])/, homedir());

/** Rejects a file whose text must not become a prompt. The links in its path must be resolved. */
async function assertPromptFileAllowed(
	realPath: string,
	roots: readonly string[],
	label: string,
): Promise<void> {
	assertNotCredentialFile(realPath, label);
	const home = await realpath(homedir()).catch(() => homedir());
	for (const root of roots) {
		const realRoot = await realpath(root).catch(() => root);
		// A session may work in the home folder or above it, where most files are not meant for prompts.
		if (isInside(realPath, realRoot) && realRoot !== home && !isInside(home, realRoot)) return;
	}
	throw outsideAgentFolders(realPath, roots, label);
}

function isInside(path: string, folder: string): boolean {
	const relativePath = relative(folder, path);
	return (
		relativePath !== '' &&
		relativePath !== '..' &&
		!relativePath.startsWith(`..${sep}`) &&
		!isAbsolute(relativePath)
	);
}

/** Rejects a credential file. The links in its path must be resolved. */
export function assertNotCredentialFile(realPath: string, label: string): void {
	if (!isCredentialFile(realPath)) return;
	throw new ToolError(
		'agent_file_not_found',
		`The ${label} ${realPath} is a credential file, which must not become part of a prompt. Name a file with instructions.`,
		{path: realPath},
	);
}

/** Settings of Codex that name a file whose text becomes part of a prompt. */
const promptFileKey = /(^|[._])(instructions|prompt)_file$/;

/** Rejects a configuration for Codex that names a file which could not be an agent file. */
export async function assertPromptFilesAllowed(
	config: unknown,
	cwd: string,
	roots: readonly string[],
): Promise<void> {
	for (const [key, value] of nestedEntries(config)) {
		const fileNames = key.endsWith('project_doc_fallback_filenames') && Array.isArray(value) ? value : [];
		for (const fileName of promptFileKey.test(key) ? [value] : fileNames) {
			if (typeof fileName !== 'string') continue;
			const path = resolve(cwd, expandHome(fileName));
			await assertPromptFileAllowed(await realpath(path).catch(() => path), roots, shortened(key));
		}
	}
}

/** All members of an object, those of objects in it included. */
function* nestedEntries(config: unknown): Generator<[string, unknown]> {
	const stack = [config];
	for (let value = stack.pop(); value !== undefined; value = stack.pop()) {
		if (typeof value !== 'object' || value === null) continue;
		for (const entry of Object.entries(value)) {
			yield entry;
			if (typeof entry[1] === 'object' && entry[1] !== null) stack.push(entry[1]);
		}
	}
}

const withoutFrontMatter = (text: string): string =>
	text.replace(/^\uFEFF?---[^\S\n]*\r?\n[\s\S]*?\n---[^\S\n]*(?:\r?\n|$)/, '').trimStart();

const outsideAgentFolders = (path: string, roots: readonly string[], label: string): ToolError =>
	new ToolError(
		'agent_file_not_found',
		`The ${label} ${path} is outside the folders that agent files may be in: ${roots.join(', ')}. Move it there, or add its folder to trusted_directories in your own configuration.`,
		{path},
	);

function unreadableAgentFile(path: string, error: NodeJS.ErrnoException): ToolError {
	const reason = error instanceof FileRejectedError ? error.message : (error.code ?? error.message);
	const sentences = `The agent file ${path} cannot be used: ${reason}. Name a text file of at most ${MAX_BYTES / 1024} KiB.`;
	return new ToolError('agent_file_not_found', sentences, {path});
}
