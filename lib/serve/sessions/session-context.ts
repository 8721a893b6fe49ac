import {closeSync, constants, fstatSync, openSync, readSync, statSync} from 'node:fs';
import {basename, dirname, join, resolve} from 'node:path';

/** Where a session works: read anew at every call, since branches change. Null outside of a repository. */
export type RepoContext = {
	readonly repo_root: string | null;
	readonly repo_name: string | null;
	readonly branch: string | null;
};

const noRepository: RepoContext = {repo_root: null, repo_name: null, branch: null};

/** Git's files are small. What is larger is none of them. */
const MAX_BYTES = 64 * 1024;

/**
 * What git says of a folder, told by its files: a process for each call would cost more than the call. They are few and
 * small, so they are read at once: whoever waits for a thread to do that waits longer, as others write to disk there.
 */
export function readRepoContext(cwd: string): RepoContext {
	const repository = findGitFolder(resolve(cwd));
	if (!repository) return noRepository;
	const {root, folder} = repository;
	// A worktree has a HEAD of its own, and all else in common with the others.
	const common = resolve(folder, readSmallFile(join(folder, 'commondir'))?.trim() ?? '.');
	const [head, config] = [readSmallFile(join(folder, 'HEAD')), readSmallFile(join(common, 'config'))];
	return {
		repo_root: root,
		repo_name: originName(config ?? '') ?? basename(root),
		branch: branchOf(head ?? ''),
	};
}

/** The repository that a folder is in: `.git` is a folder, or a file that names one. */
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

/** The branch, or `HEAD` where none is checked out, as git itself says. */
function branchOf(head: string): string | null {
	const [, branch] = /^ref: refs\/heads\/(.+)$/m.exec(head) ?? [];
	if (branch !== undefined) return isValidGitName(branch.trim()) ? branch.trim() : null;
	return /^[0-9a-f]{40,64}\s*$/.test(head) ? 'HEAD' : null;
}

/** The last part of the URL of `origin`. */
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

/** The length that file systems allow a name of git's. */
const MAX_NAME = 255;

/** Whether a name is one that git accepts. A repository may have been made by hand, and a prompt gets its names. */
const isValidGitName = (name: string): boolean =>
	name !== '' && name.length <= MAX_NAME && !/[\s\p{Cc}~^:?*[\\]/u.test(name);

/** A small file's text; nothing of what is no file, or cannot be read. */
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

/** All that a session is told of itself. */
type SessionContext = RepoContext & {
	readonly identity: string;
	readonly team: string;
	readonly cwd: string;
};

/** What Codex is told of who it is and where, in its developer instructions. */
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

/** What comes before a reply when the session has been told something else before; nothing when it has not. */
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

/** Names of folders and branches may hold nearly anything; none of it is to look like a line of ours. */
const sanitizeLine = (text: string): string => text.replace(/[\p{Cc}<>]/gu, '?');

/** Texts one after the other, with a blank line between; those that are empty are left out. */
export const joinParagraphs = (...texts: ReadonlyArray<string | undefined>): string | undefined => {
	const present = texts.filter(text => text !== undefined && text.trim() !== '');
	return present.length === 0 ? undefined : present.join('\n\n');
};
