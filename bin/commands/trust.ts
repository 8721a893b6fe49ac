import {homedir} from 'node:os';
import {basename, resolve} from 'node:path';
import process from 'node:process';
import {fileIn, foundNames} from '../../lib/config/find.js';
import {review} from '../../lib/config/trust.js';
import {keyOf, TrustStore} from '../../lib/config/trust-store.js';
import {printable} from '../../lib/printable.js';
import {defineCommand} from '../cli/command.js';
import {flag} from '../cli/option.js';
import {write} from '../common/own-output.js';
import {commandsOf} from '../common/trusted-config.js';
import {invalid} from '../common/values.js';

export const command = defineCommand({
	summary: 'lets bridge use a configuration file that it finds in the working directory',
	usage: [
		[
			'bridge trust [FILE]',
			'trusts FILE [bridge.yaml, .yml, .json or .toml here] as it is now, with its packs',
		],
		['bridge trust --list', 'prints the trusted files'],
		['bridge trust --remove [FILE]', 'no longer trusts FILE'],
	],
	details: `A configuration names commands that run as you, and it may be part of a cloned repository. So bridge gateway and bridge hub use
a file in the working directory only with the path and the content that you have trusted; otherwise they exit with 2.
On a terminal, bridge gateway prompts you to trust it. A running gateway or hub keeps the old configuration when its file or its
packs change, until they are trusted again. Files that --config or BRIDGE_CONFIG name, and those in ~/.config/bridge, need no
trust. Trusted content is recorded in ~/.local/state/bridge/trusted (or below XDG_STATE_HOME).`,
	options: {
		list: flag('prints the trusted files'),
		remove: flag('removes a file from the list'),
	},
	maxWords: 1,
	examples: ['cd my-project && cat bridge.yaml && bridge trust && bridge gateway'],
	exitCodes:
		'0 fine, 1 --remove of a file that was not trusted, 2 wrong arguments, or a file that cannot be read or trusted',
	run: ({words: [named], options}) => changeTrust(named, options),
});

type Flags = {readonly list: boolean; readonly remove: boolean};

/** Records that a configuration file found in its folder may be used, as it is now. */
async function changeTrust(named: string | undefined, {list, remove}: Flags): Promise<number> {
	if (list && (remove || named !== undefined))
		throw invalid('--list takes neither a file nor --remove.', 'Write: bridge trust --list');
	const store = new TrustStore(process.env, homedir());
	const print = (text: string): Promise<void> => write(process.stdout, text);
	if (list) {
		await print((await store.list()).map(path => `${printable(path)}\n`).join(''));
		return 0;
	}
	const file = fileOf(named);
	if (remove) {
		const wasTrusted = await store.remove(file);
		await print(`${printable(keyOf(file))} ${wasTrusted ? 'is no longer trusted' : 'was not trusted'}.\n`);
		return wasTrusted ? 0 : 1;
	}
	const reviewed = await review(file, process.env);
	await store.add(reviewed.entry);
	await print(
		`${commandsOf(reviewed)}This file and its packs are now trusted with this content. To undo this, run: bridge trust --remove\n`,
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
