import {homedir} from 'node:os';
import {basename, resolve} from 'node:path';
import process from 'node:process';
import {fileIn, foundNames} from '../lib/config/find.js';
import {type Loaded, loadConfig} from '../lib/config/load.js';
import {type Review, review} from '../lib/config/trust.js';
import {keyOf, TrustStore} from '../lib/config/trust-store.js';
import {BridgeError} from '../lib/errors.js';
import {printable} from '../lib/printable.js';
import {confirmed} from './confirm.js';
import type {Flags, Invocation} from './flags.js';
import {write} from './own-output.js';
import {invalid} from './values.js';

/** `bridge trust`: records that a configuration file found in its folder may be used, as it is now. */
export async function runTrust({words: [, named], flags}: Invocation): Promise<number> {
	const {isListing, isRemoving} = flags.companion;
	if (isListing && (isRemoving || named !== undefined))
		throw invalid('--list takes neither a file nor --remove.', 'Write: bridge trust --list');
	const store = new TrustStore(process.env, homedir());
	const print = (text: string): Promise<void> => write(process.stdout, text);
	if (isListing) {
		await print((await store.list()).map(path => `${printable(path)}\n`).join(''));
		return 0;
	}
	const file = fileOf(named);
	if (isRemoving) {
		const wasTrusted = await store.remove(file);
		await print(`${printable(keyOf(file))} ${wasTrusted ? 'is no longer trusted' : 'was not trusted'}.\n`);
		return wasTrusted ? 0 : 1;
	}
	const reviewed = await review(file, process.env);
	await store.add(reviewed.entry);
	await print(
		`${shown(reviewed)}This file and its packs are now trusted with this content. To undo this, run: bridge trust --remove\n`,
	);
	return 0;
}

function fileOf(named: string | undefined): string {
	const file = named === undefined ? fileIn(process.cwd()) : resolve(named);
	if (file === undefined)
		throw invalid(`This folder has none of ${foundNames.join(', ')}.`, 'Name the file: bridge trust FILE');
	if (!foundNames.includes(basename(file)))
		throw invalid(
			`${named} needs no trust: only ${foundNames.join(', ')} are searched for in the working directory.`,
			`Use it with --config ${named}.`,
		);
	return file;
}

/**
 * Loads the configuration. On a terminal, prompts the user to trust an untrusted file. Not for commands whose standard
 * input is MCP.
 */
export async function loadOrAsk({config: named}: Flags): Promise<Loaded> {
	try {
		return await loadConfig({named});
	} catch (error) {
		if (!(error instanceof BridgeError) || error.code !== 'ERR_CONFIG_UNTRUSTED') throw error;
		if (!process.stdin.isTTY || !process.stderr.isTTY) throw error;
		const reviewed = await review(String(error.details.file), process.env);
		await write(process.stderr, `${error.message}\n${shown(reviewed)}`);
		if (!(await confirmed('Trust this file, as it is now? [y/N] ', process.stderr))) throw error;
		await new TrustStore(process.env, homedir()).add(reviewed.entry);
		return loadConfig({named});
	}
}

/** The commands and URLs that the user reviews before trusting a file. */
const shown = ({entry, runs}: Review): string =>
	[`${printable(entry.path)} runs or connects to:`, ...runs.map(line => `  ${line}`), ''].join('\n');
