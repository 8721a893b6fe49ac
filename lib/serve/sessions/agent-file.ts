import {realpath, stat} from 'node:fs/promises';
import {homedir} from 'node:os';
import {isAbsolute, join, relative, resolve, sep} from 'node:path';
import {isCredentialFile} from '../../files/credential-file.js';
import {FileRejectedError, readRegularTextFile} from '../../files/read-regular-file.js';
import {shortened} from '../../util/printable.js';
import {ToolError} from './tool-error.js';

const MAX_BYTES = 256 * 1024;

type AgentFileOptions = {
	/** Folders in which a relative path is searched, in this order. */
	readonly bases: readonly string[];
	/** Folders that may contain agent files. Symbolic links that lead out of them are rejected. */
	readonly roots: readonly string[];
};

/** Folders of the user's agents. Their parents also contain credentials and transcripts. */
export const userAgentFolders = (claude: string): string[] => [
	...[claude, join(homedir(), '.claude')].flatMap(folder =>
		['agents', 'commands', 'skills', 'plugins'].map(name => join(folder, name)),
	),
	...['agents', 'prompts', 'skills'].map(name => join(homedir(), '.codex', name)),
];

/** Returns the text of an agent file without its front matter, which is only meant for Claude Code. */
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
		if (body.trim() === '') throw unreadableAgentFile(realPath, new FileRejectedError('it contains no text'));
		return body;
	}
	throw new ToolError(
		'agent_file_not_found',
		`No agent file found at ${candidates.join(' or ')}. Pass the path of an existing file, absolute or relative to cwd.`,
		{path: candidates[0] ?? path},
	);
}

/** Replaces a leading `~` by the home folder. */
export const expandHome = (path: string): string => path.replace(/^~(?=$|[/\\])/, homedir());

/** Rejects a file whose text must not become a prompt. `realPath` has no symbolic links. */
async function assertPromptFileAllowed(
	realPath: string,
	roots: readonly string[],
	label: string,
): Promise<void> {
	assertNotCredentialFile(realPath, label);
	const home = await realpath(homedir()).catch(() => homedir());
	for (const root of roots) {
		const realRoot = await realpath(root).catch(() => root);
		// A session may run in the home folder or above it, where most files are not meant for prompts.
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

/** Rejects a credential file. `realPath` has no symbolic links. */
export function assertNotCredentialFile(realPath: string, label: string): void {
	if (!isCredentialFile(realPath)) return;
	throw new ToolError(
		'agent_file_not_found',
		`The ${label} ${realPath} is a credential file, which must not become part of a prompt. Use a file with instructions.`,
		{path: realPath},
	);
}

/** Keys of Codex settings whose value is a file that becomes part of a prompt. */
const promptFileKey = /(^|[._])(instructions|prompt)_file$/;

/** Rejects Codex settings with a prompt file that is not allowed as an agent file. */
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

/** Yields all members of an object and of nested objects. Iterative, to support any nesting depth. */
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
		`The ${label} ${path} is outside the folders allowed for agent files: ${roots.join(', ')}. Move it into one of them, or add its folder to trusted_directories in your user configuration.`,
		{path},
	);

function unreadableAgentFile(path: string, error: NodeJS.ErrnoException): ToolError {
	const reason = error instanceof FileRejectedError ? error.message : (error.code ?? error.message);
	const sentences = `The agent file ${path} cannot be used: ${reason}. Use a text file of at most ${MAX_BYTES / 1024} KiB.`;
	return new ToolError('agent_file_not_found', sentences, {path});
}
