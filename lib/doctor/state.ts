import {accessSync, constants, readdirSync, type Stats, statSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {auditFolder} from '../atm/paths.js';
import {staleLocks} from '../sessions/identity-locks.js';
import {lookAtTeam, type TeamView, teamsIn} from '../sessions/look.js';
import {registryPath} from '../sessions/session-table.js';
import {leftovers} from '../store/atomic-file.js';
import {error, type Finding, info, ok, warning} from './finding.js';

/** What sessions have left on disk: whose it is, and whether it can be read and written. */
export async function lookAtState(base: string, isUsed: boolean): Promise<Finding[]> {
	const folder = auditFolder(base);
	const found = statOf(folder);
	if (!found) return [lookAtMissing(folder, isUsed)];
	const teams = await teamsIn(base);
	const views = await Promise.all(teams.map(team => lookAtTeam(base, team)));
	const ofTeams = await Promise.all(views.map(lookAtRegistry));
	return [...lookAtRights('Folder', folder, 0o700), ...lookAtAudit(folder), ...ofTeams.flat()];
}

function lookAtMissing(folder: string, isUsed: boolean): Finding {
	// The first folder above that is there has to take it.
	let above = folder;
	while (!statOf(above)) above = join(above, '..');
	const isFolder = statOf(above)?.isDirectory();
	if (isFolder && canWrite(above))
		return info('Folder', `${folder} does not exist yet; the first session creates it`);
	const reason = isFolder ? `you may not write to ${above}` : `${above} is not a folder`;
	const text = `${folder} cannot be created, since ${reason}`;
	if (!isUsed) return info('Folder', `${text}; only sessions need it`);
	return error('Folder', `${text}.`, 'Change its mode, or set ATM_HOME to a folder of yours.');
}

/** Files and folders are for their owner alone: prompts and summaries are in them. */
function lookAtRights(about: string, path: string, wanted: number): Finding[] {
	const found = statOf(path);
	if (!found) return [];
	const mode = found.mode & 0o777;
	const shown = wanted.toString(8);
	if (process.getuid && found.uid !== process.getuid())
		return [
			warning(about, `${path} belongs to another user`, 'Let its owner give it to you, or set ATM_HOME.'),
		];
	if (!canWrite(path)) return [error(about, `${path} cannot be written`, `chmod ${shown} ${path}`)];
	if (process.platform !== 'win32' && (mode & 0o077) !== 0)
		return [warning(about, `${path} can be read by others (${mode.toString(8)})`, `chmod ${shown} ${path}`)];
	return [ok(about, path)];
}

function lookAtAudit(folder: string): Finding[] {
	return lookAtRights('Audit', join(folder, 'audit.jsonl'), 0o600);
}

async function lookAtRegistry({name, folder, entries, problem}: TeamView): Promise<Finding[]> {
	const [team = '', repository] = name.split('@', 2);
	const about = repository === undefined ? `Team ${team}` : `Repository ${repository}`;
	if (problem !== undefined)
		return [error(about, `${registryPath(folder)} cannot be used: ${problem}.`, remedyFor(problem))];
	const counted = entries.length === 1 ? '1 session' : `${entries.length} sessions`;
	const active = entries.filter(({status}) => status === 'active').length;
	const rights = [folder, registryPath(folder)].flatMap((path, at) =>
		lookAtRights(about, path, at === 0 ? 0o700 : 0o600),
	);
	const aside = readdirSync(folder).filter(name => name.startsWith('registry.json.corrupt-'));
	const [locks, temporary] = [await staleLocks(folder), await leftovers(folder)];
	const atNextStart =
		'The next bridge serve that uses this folder removes what is left; nothing has to be done.';
	return [
		...rights.filter(({state}) => state !== 'ok'),
		ok(about, `${counted}, ${active} of them active, in ${folder}`),
		...(aside.length > 0
			? [
					warning(
						about,
						`a broken registry was put aside: ${aside.join(', ')}`,
						`Look at it, then remove it from ${folder}.`,
					),
				]
			: []),
		...(locks.length > 0
			? [warning(about, `locks of dead processes: ${locks.join(', ')}`, atNextStart)]
			: []),
		...(temporary.length > 0
			? [warning(about, `${temporary.length} temporary files of dead processes`, atNextStart)]
			: []),
	];
}

const remedyFor = (problem: string): string =>
	problem.startsWith('it is of version')
		? 'A later bridge wrote it: use that one.'
		: 'The next bridge serve keeps it under another name and begins a new one; save it first if you need it.';

function canWrite(path: string): boolean {
	try {
		accessSync(path, constants.W_OK);
		return true;
	} catch {
		return false;
	}
}

function statOf(path: string): Stats | undefined {
	try {
		return statSync(path, {throwIfNoEntry: false});
	} catch {
		return;
	}
}
