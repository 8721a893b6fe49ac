import process from 'node:process';
import {loadConfig} from '../lib/config/load.js';
import {showConfig} from '../lib/config/show.js';
import {BridgeError} from '../lib/errors.js';
import {printable} from '../lib/printable.js';
import type {Invocation} from './flags.js';

/** `bridge config`: the configuration that is in force, secrets hidden, or all that is wrong with it. */
export async function runConfig({words, server, flags}: Invocation): Promise<number> {
	const [, ...rest] = words;
	if (rest.length > 0 || server) throw superfluous(rest[0] ?? '--');
	const {check, config} = flags;
	if (check !== undefined && config !== undefined)
		throw new BridgeError(
			'ERR_CONFIG_INVALID',
			'--check and --config both name a file.',
			'Give one of the two.',
		);
	const loaded = await loadConfig({named: check ?? config});
	for (const warning of loaded.warnings) await write(process.stderr, `bridge: ${printable(warning)}\n`);
	await write(process.stdout, showConfig(loaded));
	return 0;
}

/** Writes a text, all of it before the process may end. A reader that is gone is nobody's mistake. */
const write = (stream: NodeJS.WriteStream, text: string): Promise<void> =>
	new Promise(resolve => {
		stream.once('error', () => resolve());
		stream.write(text, () => resolve());
	});

const superfluous = (word: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`bridge config has no use for ${word}.`,
		`To look at a file, write: bridge config --config ${word.startsWith('-') ? 'FILE' : word}`,
	);
