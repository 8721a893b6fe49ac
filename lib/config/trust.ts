import {dirname, resolve} from 'node:path';
import {BridgeError} from '../core/errors.js';
import {printable} from '../util/printable.js';
import {shellQuote} from '../util/shell-quote.js';
import {type EnvironmentVariables, expandVariables} from './expand-variables.js';
import {resolveRealPath} from './find-file.js';
import {digestFolder, type TrustedPacks, writableByOthersError} from './folder-digest.js';
import {invalidFileError} from './issues.js';
import {MAX_CONFIG_VALUES, parseConfigText} from './parse-text.js';
import {extensionOf, readConfigText} from './read-file.js';
import {type TrustEntry, type TrustStore, trustKey} from './trust-store.js';
import {isObjectOrArray} from './validate.js';

/** Rejects a file whose content differs from the trusted content. */
export async function requireTrust(store: TrustStore, file: string, sha256: string): Promise<TrustEntry> {
	const entry = await store.find(file);
	if (entry?.sha256 === sha256) return entry;
	const message = entry
		? `${file} has changed since it was trusted.`
		: `${file} is not trusted: it was found in the working directory, and its commands would run as you.`;
	throw untrustedError(file, message);
}

/** Rejects packs that differ from those trusted with the file. */
export async function requireTrustedPacks(
	{packs}: TrustEntry,
	file: string,
	folder: string,
): Promise<TrustedPacks> {
	const sha256 = await digestFolder(folder);
	if (packs?.folder === resolveRealPath(folder) && packs.sha256 === sha256) return {sha256, file};
	throw untrustedError(file, `The packs in ${folder} differ from those that were trusted with ${file}.`);
}

/** Returns the error that loading a discovered file would throw; undefined if it is trusted. */
export async function findTrustError(
	store: TrustStore,
	file: string,
	environment: EnvironmentVariables,
): Promise<BridgeError | undefined> {
	try {
		const {entry: current} = await reviewConfigFile(file, environment);
		const entry = await requireTrust(store, file, current.sha256);
		if (current.packs) await requireTrustedPacks(entry, file, current.packs.folder);
	} catch (error) {
		if (error instanceof BridgeError) return error;
		throw error;
	}
	return;
}

/** Returns the shell command that trusts a file. */
export const trustCommand = (file: string): string => `bridge trust ${shellQuote(printable(file))}`;

const untrustedError = (file: string, message: string): BridgeError =>
	new BridgeError('ERR_CONFIG_UNTRUSTED', printable(message), `Review it, then run: ${trustCommand(file)}`, {
		file,
	});

/** A file to trust, and the commands and URLs in it. */
export type TrustReview = {readonly entry: TrustEntry; readonly actions: readonly string[]};

/**
 * Reads a file and its packs once, so that the displayed content is the trusted content. Starts nothing and
 * expands variables only in `packs`.
 */
export async function reviewConfigFile(
	file: string,
	environment: EnvironmentVariables,
): Promise<TrustReview> {
	const path = trustKey(file);
	const {text, sha256, writers} = await readConfigText(path, path);
	if (writers !== undefined) throw writableByOthersError(path, writers);
	const {value, issues} = parseConfigText(text, extensionOf(path, path), MAX_CONFIG_VALUES);
	if (issues.length > 0) throw invalidFileError(path, issues);
	const settings = isObjectOrArray(value) ? value : {};
	const folder = resolvePacksFolder(settings.packs, environment, dirname(path));
	const packs = folder === undefined ? undefined : {folder, sha256: await digestFolder(folder)};
	const servers = [settings.servers, settings.mcpServers].flatMap(each =>
		isObjectOrArray(each) ? Object.entries(each) : [],
	);
	const actions = servers.map(([name, server]) => truncateLine(`${name}: ${describeAction(server)}`));
	const rest = actions.length > MAX_ACTIONS ? [`and ${actions.length - MAX_ACTIONS} more servers`] : [];
	return {
		entry: {path, sha256, ...(packs && {packs})},
		actions: [
			...actions.slice(0, MAX_ACTIONS),
			...rest,
			...(packs ? [truncateLine(`packs: all modules in ${packs.folder}`)] : []),
		],
	};
}

/** Returns the packs folder that loading the file would use. Ignores unset variables in other values. */
function resolvePacksFolder(
	input: unknown,
	environment: EnvironmentVariables,
	folder: string,
): string | undefined {
	const {value} = expandVariables(input, environment);
	return typeof value === 'string' ? resolveRealPath(resolve(folder, value)) : undefined;
}

const MAX_ACTIONS = 50;
const MAX_LINE = 500;

const truncateLine = (text: string): string =>
	printable(text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE)}… (${text.length} characters)`);

function describeAction(server: unknown): string {
	if (!isObjectOrArray(server)) return '';
	const {command, url, headers, args, env, cwd} = server;
	if (command === undefined) {
		const headerTexts = entriesOf(headers).map(([name, value]) => shellQuote(`${name}: ${toText(value)}`));
		return `${toText(url)}${headerTexts.length === 0 ? '' : ` (headers ${headerTexts.join(', ')})`}`;
	}
	const variables = entriesOf(env).map(([name, value]) => `${name}=${toText(value)}`);
	const words = [...variables, command, ...(Array.isArray(args) ? args : [])].map(word =>
		shellQuote(toText(word)),
	);
	return `${words.join(' ')}${cwd === undefined ? '' : ` (in ${toText(cwd)})`}`;
}

const entriesOf = (value: unknown): ReadonlyArray<[string, unknown]> =>
	isObjectOrArray(value) ? Object.entries(value) : [];

const toText = (value: unknown): string =>
	typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
