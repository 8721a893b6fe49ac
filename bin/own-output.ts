import process from 'node:process';
import {loadAtmConfig} from '../lib/atm/config.js';
import type {LoadedAtmConfig} from '../lib/atm/types.js';
import {printable, printableJson} from '../lib/printable.js';
import type {Flags} from './flags.js';

/** Writes a text, all of it before the process may end. A reader that is gone is nobody's mistake. */
export const write = (stream: NodeJS.WriteStream, text: string): Promise<void> =>
	new Promise(resolve => {
		stream.once('error', () => resolve());
		stream.write(text, () => resolve());
	});

/** A value as JSON, with characters that are not printable as escapes. */
export const jsonText = (value: unknown, indent: number | undefined = 2): string =>
	`${printableJson(JSON.stringify(value, undefined, indent))}\n`;

/** Writes a sentence for a person. */
export const tell = (sentence: string): Promise<void> =>
	write(process.stderr, `bridge: ${printable(sentence)}\n`);

/** The configuration of sessions as flags, variables and files have it here. */
export function atmConfig(flags: Flags, config: string | undefined): Promise<LoadedAtmConfig> {
	const timeoutSecs = flags.timeoutMs === undefined ? undefined : flags.timeoutMs / 1000;
	return loadAtmConfig({
		flags: {...flags.session, config, timeoutSecs},
		env: process.env,
		cwd: process.cwd(),
	});
}
