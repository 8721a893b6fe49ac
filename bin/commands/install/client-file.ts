import {existsSync, realpathSync, statSync} from 'node:fs';
import {copyFile, readFile} from 'node:fs/promises';
import {dirname} from 'node:path';
import process from 'node:process';
import {redactText} from '../../../lib/core/redact.js';
import {writeAtomically} from '../../../lib/files/atomic-write.js';
import {makeFolder} from '../../../lib/files/make-folder.js';
import {lineDiff} from '../../../lib/util/line-diff.js';
import {printable} from '../../../lib/util/printable.js';
import {confirmOnTerminal, INTERRUPTED} from '../../shared/confirm.js';
import {usageError} from '../../shared/flag-values.js';
import {writeText} from '../../shared/output.js';

/** A client's file, and what it holds; empty where it does not exist. */
type ClientFile = {readonly file: string; readonly before: string};

/** Reads a file. A link to it stays: some users keep such files elsewhere. */
export async function readClientFile(path: string): Promise<ClientFile> {
	const file = existsSync(path) ? realpathSync(path) : path;
	return {file, before: existsSync(file) ? await readFile(file, 'utf8') : ''};
}

type ClientFileChange = ClientFile & {
	readonly after: string;
	/** The changes one by one, where there are several. */
	readonly steps?: ReadonlyArray<{readonly before: string; readonly after: string}>;
	/** Hides the secrets of a line. */
	readonly hide: (line: string) => string;
	readonly isConfirmed: boolean;
	/** A sentence for after it was written. */
	readonly nextStep: string;
};

/** Shows the changes of a file, asks for consent, keeps the old file, and writes the new one. Returns the exit code. */
export async function confirmAndWrite(change: ClientFileChange): Promise<number> {
	const {file, before, after, steps = [{before, after}], hide, isConfirmed: isYes, nextStep: next} = change;
	const print = (text: string): Promise<void> => writeText(process.stdout, text);
	const diff = steps
		.map(step => lineDiff(step.before, step.after).map(line => `${displayLine(redactText(hide(line)))}\n`))
		.map(lines => lines.join(''));
	await print(`${before === '' ? 'New file' : 'Changes to'} ${file}:\n${diff.join('  …\n')}`);
	const answer = isYes || (await promptForConsent());
	if (answer !== true) {
		await print(`${answer === INTERRUPTED ? '\n' : ''}Nothing was written.\n`);
		return answer === INTERRUPTED ? INTERRUPTED : 1;
	}
	const backup = await replace(file, before, after);
	await print(`Written.${backup === undefined ? '' : ` The file as it was: ${backup}`}\n${next}\n`);
	return 0;
}

const displayLine = (line: string): string => printable(line).replaceAll('\\x09', '\t');

async function promptForConsent(): Promise<boolean | typeof INTERRUPTED> {
	if (!process.stdin.isTTY || !process.stdout.isTTY)
		throw usageError(
			'Nothing was written: there is no terminal to ask on.',
			'If this is what you want, say --yes.',
		);
	return confirmOnTerminal('Write this? [y/N] ', process.stdout);
}

/** Writes the file, with the rights that it had; returns where its old content is, if it had one. */
async function replace(file: string, before: string, after: string): Promise<string | undefined> {
	if (before === '') {
		await makeFolder(dirname(file));
		await writeAtomically(file, after);
		return;
	}
	// A client may have written it while the prompt was open.
	if ((await readFile(file, 'utf8')) !== before)
		throw usageError(`Nothing was written: ${file} has changed meanwhile.`, 'Run the command again.');
	const backup = `${file}.before-bridge-${new Date().toISOString().replace(/[:.]/g, '-')}`;
	await copyFile(file, backup);
	await writeAtomically(file, after, statSync(file).mode & 0o777);
	return backup;
}
