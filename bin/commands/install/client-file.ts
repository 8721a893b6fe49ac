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

/** A client's file and its content, which is empty if the file does not exist. */
type ClientFile = {readonly file: string; readonly before: string};

/** Reads a file. Follows a symbolic link, so that replacing the file preserves the link. */
export async function readClientFile(path: string): Promise<ClientFile> {
	const file = existsSync(path) ? realpathSync(path) : path;
	return {file, before: existsSync(file) ? await readFile(file, 'utf8') : ''};
}

type ClientFileChange = ClientFile & {
	readonly after: string;
	/** The individual changes, if there are several. */
	readonly steps?: ReadonlyArray<{readonly before: string; readonly after: string}>;
	readonly hide: (line: string) => string;
	readonly isConfirmed: boolean;
	/** The sentence that is printed after writing. */
	readonly nextStep: string;
};

/**
 * Shows the changes of a file, prompts for consent, backs up the old file and writes the new one. Returns the
 * exit code.
 */
export async function confirmAndWrite(change: ClientFileChange): Promise<number> {
	const {file, before, after, steps = [{before, after}], hide, isConfirmed, nextStep} = change;
	const print = (text: string): Promise<void> => writeText(process.stdout, text);
	const diff = steps
		.map(step => lineDiff(step.before, step.after).map(line => `${displayLine(redactText(hide(line)))}\n`))
		.map(lines => lines.join(''));
	await print(`${before === '' ? 'New file' : 'Changes to'} ${file}:\n${diff.join('  …\n')}`);
	const consent = isConfirmed || (await promptForConsent());
	if (consent !== true) {
		await print(`${consent === INTERRUPTED ? '\n' : ''}Nothing was written.\n`);
		return consent === INTERRUPTED ? INTERRUPTED : 1;
	}
	const backup = await replace(file, before, after);
	await print(
		`Written.${backup === undefined ? '' : ` The previous file is saved as ${backup}`}\n${nextStep}\n`,
	);
	return 0;
}

const displayLine = (line: string): string => printable(line).replaceAll('\\x09', '\t');

async function promptForConsent(): Promise<boolean | typeof INTERRUPTED> {
	if (!process.stdin.isTTY || !process.stdout.isTTY)
		throw usageError(
			'Nothing was written: there is no terminal for the prompt.',
			'To write without a prompt, use --yes.',
		);
	return confirmOnTerminal('Write this? [y/N] ', process.stdout);
}

/** Writes the file with its previous mode. Returns the path of the backup, if the file existed. */
async function replace(file: string, before: string, after: string): Promise<string | undefined> {
	if (before === '') {
		await makeFolder(dirname(file));
		await writeAtomically(file, after);
		return;
	}
	// The client may have changed the file while the prompt was open.
	if ((await readFile(file, 'utf8')) !== before)
		throw usageError(`Nothing was written: ${file} has changed in the meantime.`, 'Run the command again.');
	const backup = `${file}.before-bridge-${new Date().toISOString().replace(/[:.]/g, '-')}`;
	await copyFile(file, backup);
	await writeAtomically(file, after, statSync(file).mode & 0o777);
	return backup;
}
