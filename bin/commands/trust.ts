import {homedir} from 'node:os';
import {basename, resolve} from 'node:path';
import process from 'node:process';
import {configFileNames, findConfigFileIn} from '../../lib/config/find-file.js';
import {reviewConfigFile} from '../../lib/config/trust.js';
import {TrustStore, trustKey} from '../../lib/config/trust-store.js';
import {printable} from '../../lib/util/printable.js';
import {defineCommand} from '../shared/cli/command.js';
import {booleanFlag} from '../shared/cli/option.js';
import {usageError} from '../shared/flag-values.js';
import {writeText} from '../shared/output.js';
import {reviewText} from '../shared/trusted-config.js';

export const command = defineCommand({
	summary: 'lets bridge use a configuration file that it finds in the working directory',
	usage: [
		[
			'bridge trust [FILE]',
			'trusts FILE [bridge.yaml, .yml, .json or .toml here] with its current content, and its packs',
		],
		['bridge trust --list', 'prints the trusted files'],
		['bridge trust --remove [FILE]', 'no longer trusts FILE'],
	],
	details: `A configuration contains commands that run as you, and it may be part of a cloned repository. Therefore bridge gateway and bridge hub use
a file in the working directory only with the path and the content that you have trusted; otherwise they exit with 2.
On a terminal, bridge gateway prompts you to trust it. A running gateway or hub keeps the old configuration when its file or its
packs change, until they are trusted again. Files set by --config or BRIDGE_CONFIG, and those in ~/.config/bridge, need no
trust. Trusted content is recorded in ~/.local/state/bridge/trusted (or below XDG_STATE_HOME).`,
	options: {
		list: booleanFlag('prints the trusted files'),
		remove: booleanFlag('removes a file from the list'),
	},
	maxPositionals: 1,
	examples: ['cd my-project && cat bridge.yaml && bridge trust && bridge gateway'],
	exitCodes:
		'0 success, 1 --remove of a file that was not trusted, 2 invalid arguments, or a file that cannot be read or trusted',
	run: ({positionals: [named], options}) => changeTrust(named, options),
});

type Flags = {readonly list: boolean; readonly remove: boolean};

/** Trusts a configuration file with its current content, removes a file, or lists the trusted ones. */
async function changeTrust(namedPath: string | undefined, {list, remove}: Flags): Promise<number> {
	if (list && (remove || namedPath !== undefined))
		throw usageError('--list takes neither a file nor --remove.', 'Write: bridge trust --list');
	const store = new TrustStore(process.env, homedir());
	const print = (text: string): Promise<void> => writeText(process.stdout, text);
	if (list) {
		await print((await store.list()).map(path => `${printable(path)}\n`).join(''));
		return 0;
	}
	const file = fileOf(namedPath);
	if (remove) {
		const wasTrusted = await store.remove(file);
		await print(`${printable(trustKey(file))} ${wasTrusted ? 'is no longer trusted' : 'was not trusted'}.\n`);
		return wasTrusted ? 0 : 1;
	}
	const fileReview = await reviewConfigFile(file, process.env);
	await store.add(fileReview.entry);
	await print(
		`${reviewText(fileReview)}This file and its packs are now trusted with this content. To undo this, run: bridge trust --remove\n`,
	);
	return 0;
}

function fileOf(namedPath: string | undefined): string {
	const file = namedPath === undefined ? findConfigFileIn(process.cwd()) : resolve(namedPath);
	if (file === undefined)
		throw usageError(`This folder has none of ${configFileNames.join(', ')}.`, 'Write: bridge trust FILE');
	if (!configFileNames.includes(basename(file)))
		throw usageError(
			`${namedPath} needs no trust: only ${configFileNames.join(', ')} are searched for in the working directory.`,
			`Use it with --config ${namedPath}.`,
		);
	return file;
}
