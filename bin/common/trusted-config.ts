import {homedir} from 'node:os';
import process from 'node:process';
import {type Loaded, loadConfig} from '../../lib/config/load.js';
import {type Review, review} from '../../lib/config/trust.js';
import {TrustStore} from '../../lib/config/trust-store.js';
import {BridgeError} from '../../lib/errors.js';
import {printable} from '../../lib/printable.js';
import {confirmed, INTERRUPTED} from './confirm.js';
import {write} from './own-output.js';

/**
 * Loads the configuration. On a terminal, prompts the user to trust an untrusted file. Not for commands whose standard
 * input is MCP.
 */
export async function loadOrPrompt(named: string | undefined): Promise<Loaded> {
	try {
		return await loadConfig({named});
	} catch (error) {
		if (!(error instanceof BridgeError) || error.code !== 'ERR_CONFIG_UNTRUSTED') throw error;
		if (!process.stdin.isTTY || !process.stderr.isTTY) throw error;
		const reviewed = await review(String(error.details.file), process.env);
		await write(process.stderr, `${error.message}\n${commandsOf(reviewed)}`);
		const answer = await confirmed('Trust this file, as it is now? [y/N] ', process.stderr);
		if (answer === INTERRUPTED) {
			await write(process.stderr, '\n');
			process.exit(INTERRUPTED);
		}
		if (answer !== true) throw error;
		await new TrustStore(process.env, homedir()).add(reviewed.entry);
		return loadConfig({named});
	}
}

/** The commands and URLs that the user reviews before trusting a file. */
export const commandsOf = ({entry, runs}: Review): string =>
	[`${printable(entry.path)} runs or connects to:`, ...runs.map(line => `  ${line}`), ''].join('\n');
