import {accessSync, constants, readdirSync, type Stats, statSync} from 'node:fs';
import {join} from 'node:path';
import process from 'node:process';
import {findStaleTempFiles} from '../../files/atomic-write.js';
import {auditFolder} from '../../serve/paths.js';
import {staleIdentities} from '../../serve/sessions/identity-locks.js';
import {inspectTeam, listTeamFolders, type TeamView} from '../../serve/sessions/inspect-team.js';
import {registryPath} from '../../serve/sessions/session-table.js';
import {type DoctorFinding, errorFinding, infoFinding, okFinding, warningFinding} from './finding.js';

/** Checks the owner and the permissions of the files that sessions left on disk. */
export async function checkState(base: string, isUsed: boolean): Promise<DoctorFinding[]> {
	const folder = auditFolder(base);
	const found = statOf(folder);
	if (!found) return [checkMissingFolder(folder, isUsed)];
	const teams = await listTeamFolders(base);
	const views = await Promise.all(teams.map(team => inspectTeam(base, team)));
	const ofTeams = await Promise.all(views.map(checkRegistry));
	return [...checkPermissions('Folder', folder, 0o700), ...checkAuditFile(folder), ...ofTeams.flat()];
}

function checkMissingFolder(folder: string, isUsed: boolean): DoctorFinding {
	// The nearest existing parent must be writable.
	let parent = folder;
	while (!statOf(parent)) parent = join(parent, '..');
	const isFolder = statOf(parent)?.isDirectory();
	if (isFolder && canWrite(parent))
		return infoFinding('Folder', `${folder} does not exist yet; the first session creates it`);
	const reason = isFolder ? `you may not write to ${parent}` : `${parent} is not a folder`;
	const text = `${folder} cannot be created, since ${reason}`;
	if (!isUsed) return infoFinding('Folder', `${text}; only sessions need it`);
	return errorFinding('Folder', `${text}.`, 'Change its mode, or set ATM_HOME to a folder of yours.');
}

/** Checks that only the owner can access a path, since prompts and summaries are stored there. */
function checkPermissions(about: string, path: string, expectedMode: number): DoctorFinding[] {
	const found = statOf(path);
	if (!found) return [];
	const mode = found.mode & 0o777;
	const shown = expectedMode.toString(8);
	if (process.getuid && found.uid !== process.getuid())
		return [
			warningFinding(
				about,
				`${path} belongs to another user`,
				'Change its owner, or set ATM_HOME to a folder that you own.',
			),
		];
	if (!canWrite(path)) return [errorFinding(about, `${path} cannot be written`, `chmod ${shown} ${path}`)];
	if (process.platform !== 'win32' && (mode & 0o077) !== 0)
		return [
			warningFinding(about, `${path} can be read by others (${mode.toString(8)})`, `chmod ${shown} ${path}`),
		];
	return [okFinding(about, path)];
}

function checkAuditFile(folder: string): DoctorFinding[] {
	return checkPermissions('Audit', join(folder, 'audit.jsonl'), 0o600);
}

async function checkRegistry({name, folder, entries, error}: TeamView): Promise<DoctorFinding[]> {
	const [team = '', repository] = name.split('@', 2);
	const about = repository === undefined ? `Team ${team}` : `Repository ${repository}`;
	if (error !== undefined)
		return [errorFinding(about, `${registryPath(folder)} cannot be used: ${error}.`, remedyFor(error))];
	const counted = entries.length === 1 ? '1 session' : `${entries.length} sessions`;
	const active = entries.filter(({status}) => status === 'active').length;
	const permissions = [folder, registryPath(folder)].flatMap((path, at) =>
		checkPermissions(about, path, at === 0 ? 0o700 : 0o600),
	);
	const brokenRegistries = readdirSync(folder).filter(name => name.startsWith('registry.json.corrupt-'));
	const [locks, temporary] = [await staleIdentities(folder), await findStaleTempFiles(folder)];
	const atNextStart =
		'The next bridge serve that uses this folder removes them. You do not need to do anything.';
	return [
		...permissions.filter(({state}) => state !== 'ok'),
		okFinding(about, `${counted}, ${active} of them active, in ${folder}`),
		...(brokenRegistries.length > 0
			? [
					warningFinding(
						about,
						`a broken registry was renamed: ${brokenRegistries.join(', ')}`,
						`Look at it, then remove it from ${folder}.`,
					),
				]
			: []),
		...(locks.length > 0
			? [warningFinding(about, `locks of dead processes: ${locks.join(', ')}`, atNextStart)]
			: []),
		...(temporary.length > 0
			? [warningFinding(about, `${temporary.length} temporary files of dead processes`, atNextStart)]
			: []),
	];
}

const remedyFor = (error: string): string =>
	error.startsWith('it is of version')
		? 'It was written by a newer version of bridge. Use that version.'
		: 'The next bridge serve renames it and creates a new one. Save it first if you need it.';

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
