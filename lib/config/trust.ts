import {dirname, resolve} from 'node:path';
import {BridgeError} from '../errors.js';
import {printable} from '../printable.js';
import {expand, type Variables} from './expand.js';
import {realPath} from './find.js';
import {folderDigest, type TrustedPacks, writable} from './folder-digest.js';
import {quoted} from './hub-snippet.js';
import {isObject} from './judge.js';
import {invalidFile} from './mistakes.js';
import {MAX_VALUES, parseText} from './parse.js';
import {endingOf, readText} from './read.js';
import {keyOf, type TrustEntry, type TrustStore} from './trust-store.js';

/** Rejects a file whose content is not the one that was trusted. */
export async function requireTrust(store: TrustStore, file: string, sha256: string): Promise<TrustEntry> {
	const entry = await store.find(file);
	if (entry?.sha256 === sha256) return entry;
	const what = entry
		? `${file} has changed since it was trusted.`
		: `${file} is not trusted: it was found in the working directory, and its commands would run as you.`;
	throw untrusted(file, what);
}

/** Rejects packs that are not those that were trusted together with the file. */
export async function requireTrustedPacks(
	{packs}: TrustEntry,
	file: string,
	folder: string,
): Promise<TrustedPacks> {
	const sha256 = await folderDigest(folder);
	if (packs?.folder === realPath(folder) && packs.sha256 === sha256) return {sha256, file};
	throw untrusted(file, `The packs in ${folder} are not those that were trusted with ${file}.`);
}

/** Why a file would be rejected if it were found; undefined where it is trusted. */
export async function distrust(
	store: TrustStore,
	file: string,
	environment: Variables,
): Promise<BridgeError | undefined> {
	try {
		const {entry: now} = await review(file, environment);
		const entry = await requireTrust(store, file, now.sha256);
		if (now.packs) await requireTrustedPacks(entry, file, now.packs.folder);
	} catch (error) {
		if (error instanceof BridgeError) return error;
		throw error;
	}
	return;
}

/** The shell command that trusts a file. */
export const trustCommand = (file: string): string => `bridge trust ${quoted(printable(file))}`;

const untrusted = (file: string, message: string): BridgeError =>
	new BridgeError('ERR_CONFIG_UNTRUSTED', printable(message), `Review it, then run: ${trustCommand(file)}`, {
		file,
	});

/** A file to be trusted, and the commands and URLs in it. */
export type Review = {readonly entry: TrustEntry; readonly runs: readonly string[]};

/** Reads a file and its packs once, so that the shown content is the trusted content. Runs nothing, and expands variables in `packs` only. */
export async function review(file: string, environment: Variables): Promise<Review> {
	const path = keyOf(file);
	const {text, sha256, writers} = await readText(path, path);
	if (writers !== undefined) throw writable(path, writers);
	const {value, mistakes} = parseText(text, endingOf(path, path), MAX_VALUES);
	if (mistakes.length > 0) throw invalidFile(path, mistakes);
	const given = isObject(value) ? value : {};
	const folder = packsOf(given.packs, environment, dirname(path));
	const packs = folder === undefined ? undefined : {folder, sha256: await folderDigest(folder)};
	const servers = [given.servers, given.mcpServers].flatMap(each =>
		isObject(each) ? Object.entries(each) : [],
	);
	const runs = servers.map(([name, server]) => shown(`${name}: ${actionOf(server)}`));
	const rest = runs.length > MAX_SHOWN ? [`and ${runs.length - MAX_SHOWN} more servers`] : [];
	return {
		entry: {path, sha256, ...(packs && {packs})},
		runs: [
			...runs.slice(0, MAX_SHOWN),
			...rest,
			...(packs ? [shown(`packs: all modules in ${packs.folder}`)] : []),
		],
	};
}

/** The packs folder that loading the file would use. Unset variables in other values do not matter. */
function packsOf(given: unknown, environment: Variables, folder: string): string | undefined {
	const {value} = expand(given, environment);
	return typeof value === 'string' ? realPath(resolve(folder, value)) : undefined;
}

const MAX_SHOWN = 50;
const MAX_LINE = 500;

const shown = (text: string): string =>
	printable(text.length <= MAX_LINE ? text : `${text.slice(0, MAX_LINE)}… (${text.length} characters)`);

function actionOf(server: unknown): string {
	if (!isObject(server)) return '';
	const {command, url, headers, args, env, cwd} = server;
	if (command === undefined) {
		const sent = entriesOf(headers).map(([name, value]) => quoted(`${name}: ${textOf(value)}`));
		return `${textOf(url)}${sent.length === 0 ? '' : ` (headers ${sent.join(', ')})`}`;
	}
	const variables = entriesOf(env).map(([name, value]) => `${name}=${textOf(value)}`);
	const words = [...variables, command, ...(Array.isArray(args) ? args : [])].map(word =>
		quoted(textOf(word)),
	);
	return `${words.join(' ')}${cwd === undefined ? '' : ` (in ${textOf(cwd)})`}`;
}

const entriesOf = (value: unknown): ReadonlyArray<[string, unknown]> =>
	isObject(value) ? Object.entries(value) : [];

const textOf = (value: unknown): string =>
	typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
