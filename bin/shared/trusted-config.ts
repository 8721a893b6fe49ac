import {homedir} from 'node:os';
import process from 'node:process';
import {type LoadedConfig, loadConfig} from '../../lib/config/load-config.js';
import {reviewConfigFile, type TrustReview} from '../../lib/config/trust.js';
import {TrustStore} from '../../lib/config/trust-store.js';
import {BridgeError} from '../../lib/core/errors.js';
import {printable} from '../../lib/util/printable.js';
import {confirmOnTerminal, INTERRUPTED} from './confirm.js';
import {writeText} from './output.js';

/**
 * Loads the configuration. On a terminal, prompts the user to trust an untrusted file. Not for commands that
 * read MCP from stdin.
 */
export async function loadConfigOrPrompt(path: string | undefined): Promise<LoadedConfig> {
	try {
		return await loadConfig({named: path});
	} catch (error) {
		if (!(error instanceof BridgeError) || error.code !== 'ERR_CONFIG_UNTRUSTED') throw error;
		if (!process.stdin.isTTY || !process.stderr.isTTY) throw error;
		const fileReview = await reviewConfigFile(String(error.details.file), process.env);
		await writeText(process.stderr, `${error.message}\n${reviewText(fileReview)}`);
		const consent = await confirmOnTerminal('Trust this file, as it is now? [y/N] ', process.stderr);
		if (consent === INTERRUPTED) {
			await writeText(process.stderr, '\n');
			process.exit(INTERRUPTED);
		}
		if (consent !== true) throw error;
		await new TrustStore(process.env, homedir()).add(fileReview.entry);
		return loadConfig({named: path});
	}
}

/** Formats the commands and URLs that the user reviews before trusting a file. */
export const reviewText = ({entry, actions}: TrustReview): string =>
	[`${printable(entry.path)} runs or connects to:`, ...actions.map(line => `  ${line}`), ''].join('\n');
