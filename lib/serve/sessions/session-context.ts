import {closeSync, constants, fstatSync, openSync, readSync, statSync} from 'node:fs';
import {basename, dirname, join, resolve} from 'node:path';

/** The repository of a session, null outside of one. Read again for every call, since branches change. */
export type RepoContext = {
	readonly repo_root: string | null;
	readonly repo_name: string | null;
	readonly branch: string | null;
};

const noRepository: RepoContext = {repo_root: null, repo_name: null, branch: null};

/** Limit for files of git. Larger files are ignored. */
const MAX_BYTES = 64 * 1024;

/**
 * Reads the repository, its name and the branch from git's files, since a git process costs more than the
 * call itself. The reads are synchronous: the files are few and small, and the thread pool may be busy with
 * slow writes.
 */
export function readRepoContext(cwd: string): RepoContext {
	const repository = findGitFolder(resolve(cwd));
	if (!repository) return noRepository;
	const {root, folder} = repository;
	// A worktree has its own HEAD and shares everything else.
	const common = resolve(folder, readSmallFile(join(folder, 'commondir'))?.trim() ?? '.');
	const [head, config] = [readSmallFile(join(folder, 'HEAD')), readSmallFile(join(common, 'config'))];
	return {
		repo_root: root,
		repo_name: originName(config ?? '') ?? basename(root),
		branch: branchOf(head ?? ''),
	};
}

/** Finds the repository that contains a folder. `.git` is a folder, or a file with the path of one. */
function findGitFolder(cwd: string): {readonly root: string; readonly folder: string} | undefined {
	for (let root = cwd; ; root = dirname(root)) {
		const dotGit = join(root, '.git');
		const found = statSync(dotGit, {throwIfNoEntry: false});
		if (found?.isDirectory()) return {root, folder: dotGit};
		const linkedFolder = found?.isFile()
			? /^gitdir: (.+)$/m.exec(readSmallFile(dotGit) ?? '')?.[1]
			: undefined;
		if (linkedFolder !== undefined) return {root, folder: resolve(root, linkedFolder.trim())};
		if (dirname(root) === root) return;
	}
}

/** Returns the branch, or `HEAD` if it is detached, like `git rev-parse --abbrev-ref HEAD`. */
function branchOf(head: string): string | null {
	const [, branch] = /^ref: refs\/heads\/(.+)$/m.exec(head) ?? [];
	if (branch !== undefined) return isValidGitName(branch.trim()) ? branch.trim() : null;
	return /^[0-9a-f]{40,64}\s*$/.test(head) ? 'HEAD' : null;
}

/** Returns the last path segment of the URL of `origin`. */
function originName(config: string): string | undefined {
	const lines = config.split('\n').map(line => line.trim());
	const start = lines.indexOf('[remote "origin"]') + 1;
	if (start === 0) return;
	const next = lines.findIndex((line, at) => at >= start && line.startsWith('['));
	const section = lines.slice(start, next === -1 ? undefined : next);
	const url = section.map(line => /^url\s*=(.+)$/.exec(line)?.[1]).find(found => found !== undefined);
	const parts = url?.trim().split(/[/:]/);
	const last = parts?.findLast(part => part !== '')?.replace(/\.git$/, '');
	return last !== undefined && isValidGitName(last) ? last : undefined;
}

const MAX_NAME = 255;

/** Whether git accepts a name. Names go into prompts, and a crafted repository may contain any text. */
const isValidGitName = (name: string): boolean =>
	name !== '' && name.length <= MAX_NAME && !/[\s\p{Cc}~^:?*[\\]/u.test(name);

/** Returns the text of a small regular file, or undefined if it cannot be read. */
function readSmallFile(path: string): string | undefined {
	let file: number | undefined;
	try {
		file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
		const found = fstatSync(file);
		const {size} = found;
		if (!found.isFile() || size > MAX_BYTES) return;
		const bytes = Buffer.alloc(size);
		return bytes.toString('utf8', 0, readSync(file, bytes, 0, size, 0));
	} catch {
		return;
	} finally {
		if (file !== undefined) closeSync(file);
	}
}

type SessionContext = RepoContext & {
	readonly identity: string;
	readonly team: string;
	readonly cwd: string;
};

/** The block with identity, team and repository for the developer instructions. */
export const formatSessionContext = ({
	identity,
	team,
	repo_root,
	repo_name,
	branch,
	cwd,
}: SessionContext): string =>
	[
		'<session-context>',
		`Identity: ${sanitizeLine(identity)}`,
		`Team: ${sanitizeLine(team)}`,
		`Repo: ${repo_name === null ? 'null' : `${sanitizeLine(repo_name)} (${sanitizeLine(repo_root ?? '')})`}`,
		`Branch: ${sanitizeLine(branch ?? 'null')}`,
		`CWD: ${sanitizeLine(cwd)}`,
		'</session-context>',
	].join('\n');

/** Returns a note about changes since the context that was last sent, or undefined if nothing changed. */
export function formatContextUpdate(previous: RepoContext, current: RepoContext): string | undefined {
	const changes = [
		...(previous.repo_root === current.repo_root
			? []
			: [`Repo root is now ${sanitizeLine(current.repo_root ?? 'null')}.`]),
		...(previous.branch === current.branch
			? []
			: [`Branch is now ${sanitizeLine(current.branch ?? 'null')}.`]),
	];
	return changes.length === 0
		? undefined
		: `<session-context-update>${changes.join(' ')}</session-context-update>`;
}

/** Prevents names of folders and branches from forging lines or tags of the block. */
const sanitizeLine = (text: string): string => text.replace(/[\p{Cc}<>]/gu, '?');

/** Joins the non-blank texts with blank lines. Returns undefined if there are none. */
export const joinParagraphs = (...texts: ReadonlyArray<string | undefined>): string | undefined => {
	const present = texts.filter(text => text !== undefined && text.trim() !== '');
	return present.length === 0 ? undefined : present.join('\n\n');
};
