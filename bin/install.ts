import {existsSync, realpathSync, statSync} from 'node:fs';
import {copyFile, readFile} from 'node:fs/promises';
import {delimiter, dirname, join, resolve} from 'node:path';
import process from 'node:process';
import {isName} from '../lib/atm/names.js';
import {hiddenUrl} from '../lib/config/hide.js';
import {localAccess} from '../lib/http/local-access.js';
import {lineDiff} from '../lib/install/line-diff.js';
import {type Entry, fileOf, type Installable, installable, withEntry} from '../lib/install/targets.js';
import {isLoopback} from '../lib/loopback.js';
import {nearest} from '../lib/nearest.js';
import {printable} from '../lib/printable.js';
import {writeAtomically} from '../lib/store/atomic-file.js';
import {makeFolder} from '../lib/store/make-folder.js';
import type {Whereabouts} from './companions.js';
import {confirmed} from './confirm.js';
import type {Flags, Invocation} from './flags.js';
import {write} from './own-output.js';
import {invalid} from './values.js';

/** `bridge install CLIENT`: writes an entry for bridge into a client's configuration, once it was shown and agreed to. */
export async function runInstall({words, flags}: Invocation, {script}: Whereabouts): Promise<number> {
	const [, client, name = 'bridge'] = words;
	const known = installable.find(each => each === client);
	if (!known) throw unknownClient(client);
	if (!isName(name))
		throw invalid(`${name} cannot be the name of a server.`, 'Use letters, digits, "_" and "-".');
	const {isForUser, isYes} = flags.companion;
	const named = fileOf(known, {cwd: process.cwd(), env: process.env, isForUser});
	// Who keeps such files elsewhere has a link there, which is to stay.
	const file = existsSync(named) ? realpathSync(named) : named;
	const before = existsSync(file) ? await readFile(file, 'utf8') : '';
	const entry = await entryOf(flags, script);
	const token = 'token' in entry ? entry.token : undefined;
	const after = withEntry(known, before, name, entry, file);
	const say = (text: string): Promise<void> => write(process.stdout, text);
	if (after === before) {
		await say(`${file} has it already; nothing is to be done.\n`);
		return 0;
	}
	const hide = (line: string): string => (token === undefined ? line : line.replaceAll(token, '***'));
	const diff = lineDiff(before, after).map(line => `${printable(hide(line)).replaceAll('\\x09', '\t')}\n`);
	await say(`${before === '' ? 'New file' : 'Changes to'} ${file}:\n${diff.join('')}`);
	if (!isYes && !(await agreed())) {
		await say('Nothing was written.\n');
		return 1;
	}
	const backup = await replace(file, before, after);
	const then = known === 'claude' && !isForUser ? forAll : next[known];
	await say(`Written.${backup === undefined ? '' : ` The file as it was: ${backup}`}\n${then}\n`);
	if (token !== undefined)
		await say('This file contains your token for X-Bridge-Token: do not share or commit it.\n');
	return 0;
}

/** What comes with a repository is not run before somebody has said so. */
const forAll = 'Claude Code asks whether you trust it when it is started here anew; /mcp shows it.';

const next: {readonly [client in Installable]: string} = {
	claude: 'Claude Code sees it when it is started anew; /mcp shows it.',
	codex: 'Codex sees it when it is started anew.',
	cursor: 'Cursor sees it in its settings, under MCP.',
};

async function entryOf({url, session, config}: Flags, script: string): Promise<Entry> {
	if (url) {
		if (url.username || url.password)
			throw invalid(`${hiddenUrl(url)} has a secret in it.`, 'It would stand in the file for all to read.');
		const access = isLoopback(url.hostname) ? await localAccess(process.env) : undefined;
		return {url: url.href, ...(access?.by === 'token' ? {token: access.token} : {})};
	}
	const {identity, team, role, model, sandbox, approvalPolicy} = session;
	const file = config === undefined ? undefined : resolve(config);
	const given = Object.entries({
		config: file,
		team,
		identity,
		role,
		model,
		sandbox,
		'approval-policy': approvalPolicy,
	});
	const args = given.flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, value]));
	const [command, ...first] = ownCommand(script);
	return {command, args: [...first, 'serve', ...args]};
}

/** How this program is called: by its name where that is found, else by where it is. */
function ownCommand(script: string): [string, ...string[]] {
	const own = realpathSync(script);
	const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
	const isFound = folders.some(folder => {
		const path = join(folder, 'bridge');
		return existsSync(path) && realpathSync(path) === own;
	});
	return isFound ? ['bridge'] : [process.execPath, own];
}

async function agreed(): Promise<boolean> {
	if (!process.stdin.isTTY || !process.stdout.isTTY)
		throw invalid(
			'Nothing was written: there is no terminal to ask on.',
			'If this is what you want, say --yes.',
		);
	return confirmed('Write this? [y/N] ', process.stdout);
}

/** Writes the file, with the rights that it had; returns where its old content is, if it had one. */
async function replace(file: string, before: string, after: string): Promise<string | undefined> {
	if (before === '') {
		await makeFolder(dirname(file));
		await writeAtomically(file, after);
		return;
	}
	const backup = `${file}.before-bridge-${new Date().toISOString().replace(/[:.]/g, '-')}`;
	await copyFile(file, backup);
	await writeAtomically(file, after, statSync(file).mode & 0o777);
	return backup;
}

const unknownClient = (client: string | undefined) =>
	invalid(
		client === undefined ? 'Which client?' : `There is no client ${client}.`,
		`${nearest(client ?? '', installable)} Write: bridge install ${installable.join('|')}`.trim(),
	);
