import {type ConfigFile, isWithin} from './files.js';
import type {Given} from './layer.js';

/** Why a repository's own file may not say something, unless the user trusts it; undefined if it may. */
type Objection = (given: Given, root: string) => Promise<string | undefined>;

const isFine: Objection = async () => undefined;
const isProgram: Objection = async ({value}) => (value === 'codex' ? undefined : 'it names a program to run');
const isOutside: Objection = async ({value}, root) =>
	(await isWithin(String(value), root)) ? undefined : 'it names a file outside of the repository';
const isOpen: Objection = async ({value}) =>
	value === 'danger-full-access' ? 'it lets commands do anything' : undefined;

/** Who clones a repository has not read its file yet: what could run, read or open something beyond it has to wait. */
const objections: ReadonlyMap<string, Objection> = new Map([
	['codexBin', isProgram],
	['basePromptFile', isOutside],
	['extraInstructionsFile', isOutside],
	['sandbox', isOpen],
]);

/** A repository's file without what only a trusted one may say, which is told with its key. */
export async function withoutUntrusted(
	file: ConfigFile,
	root: string,
	isTrusted: boolean,
): Promise<ConfigFile> {
	const layer = new Map(file.layer);
	const warnings = [...file.warnings];
	for (const [name, given] of file.layer) {
		// Nobody can vouch for themselves.
		const isVouching = name === 'trustedDirectories';
		const objection = objections.get(name.replace(/^roles\..*\./, '')) ?? isFine;
		const reason = isVouching ? 'it trusts itself' : isTrusted ? undefined : await objection(given, root);
		if (reason === undefined) continue;
		layer.delete(name);
		const remedy = isVouching
			? 'List trusted folders in your own configuration.'
			: `If you trust ${root}, say --trust, or add it to trusted_directories in your own configuration.`;
		warnings.push(`${file.path}: ${given.key} is ignored: ${reason}. ${remedy}`);
	}
	return {...file, layer, warnings};
}

/** Whether a folder is one of those that the user trusts, or in one. */
export async function isTrustedFolder(folder: string, trusted: readonly string[]): Promise<boolean> {
	for (const each of trusted) if (await isWithin(folder, each)) return true;
	return false;
}
