import {realpath} from 'node:fs/promises';
import {homedir} from 'node:os';
import {isAbsolute, join, relative, resolve, sep} from 'node:path';
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

/** Folders of a person's own agents. */
export const ownAgentFolders = (): string[] => [join(homedir(), '.claude'), join(homedir(), '.codex')];

/** What an agent is told by its file: all of it but the front matter, which is for Claude Code. */
export async function readAgentFile(path: string, {bases, roots}: AgentFileOptions): Promise<string> {
	const places = isAbsolute(path) ? [path] : [...new Set(bases.map(base => resolve(base, path)))];
	for (const place of places) {
		const real = await realpath(place).catch(() => undefined);
		if (real === undefined) continue;
		if (!(await isInside(real, roots))) throw outside(real, roots);
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

async function isInside(real: string, roots: readonly string[]): Promise<boolean> {
	for (const root of roots) {
		const from = await realpath(root).catch(() => root);
		const way = relative(from, real);
		if (way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return true;
	}
	return false;
}

const withoutFrontMatter = (text: string): string =>
	text.replace(/^\uFEFF?---[^\S\n]*\r?\n[\s\S]*?\n---[^\S\n]*(?:\r?\n|$)/, '').trimStart();

const outside = (path: string, roots: readonly string[]): Refusal =>
	new Refusal(
		'agent_file_not_found',
		`The agent file ${path} is outside of where agent files may be: ${roots.join(', ')}. Move it there, or give its text as prompt.`,
		{path},
	);

function unreadable(path: string, error: NodeJS.ErrnoException): Refusal {
	const reason = error instanceof NotPlain ? error.message : (error.code ?? error.message);
	const sentences = `The agent file ${path} cannot be used: ${reason}. Name a text file of at most ${MAX_BYTES / 1024} KiB.`;
	return new Refusal('agent_file_not_found', sentences, {path});
}
