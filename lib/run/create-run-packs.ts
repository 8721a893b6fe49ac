import type {Log} from '../core/log.js';
import {warnOnce} from '../core/warn-once.js';
import {createProxyPack} from './proxy-pack.js';
import {toPythonName} from './python-identifiers.js';
import {PROXY_PACK, RunPacks} from './run-packs.js';
import type {Pack, RunnerOptions} from './types.js';

/**
 * The packs of one run under the names that its program finds them by, with the one that tells of them all. Local packs
 * win over servers of the same name, tool by tool, and the built-in pack wins over all.
 */
export function createRunPacks(
	allPacks: readonly Pack[],
	servers: RunnerOptions['servers'],
	log: Log,
): RunPacks {
	const byName = new Map<string, Pack>([[PROXY_PACK, createProxyPack(() => packs, servers)]]);
	const bySource = (wanted: Pack['source']): Pack[] => allPacks.filter(({source}) => source === wanted);
	for (const pack of [...bySource('local'), ...bySource('proxied')]) {
		const wanted = preferredName(pack);
		const existing = byName.get(wanted);
		const isFallback = pack.source === 'proxied' && existing?.source === 'local' && !existing.fallback;
		const name = isFallback ? wanted : uniqueName(wanted, byName);
		if (pack.name === PROXY_PACK) warnReserved(name, pack, log);
		if (isFallback) warnCollision(name, log);
		byName.set(name, isFallback ? {...existing, fallback: pack} : pack);
	}
	const packs: RunPacks = new RunPacks(byName);
	return packs;
}

/** The name that a pack should have: `proxy` is taken. */
function preferredName({name}: Pack): string {
	const preferred = toPythonName(name);
	return preferred === PROXY_PACK ? `${PROXY_PACK}_` : preferred;
}

function uniqueName(preferred: string, byName: ReadonlyMap<string, Pack>): string {
	let name = preferred;
	for (let number = 2; byName.has(name); number++) name = `${preferred}_${number}`;
	return name;
}

function warnReserved(name: string, {source}: Pack, log: Log): void {
	const what = source === 'local' ? 'local pack' : 'server';
	const sentence = `The name proxy is that of a built-in pack, so the ${what} proxy is ${name} in run. Rename the ${what} to choose another name.`;
	warnOnce(log, 'run.pack.reserved', sentence, {pack: name, source});
}

function warnCollision(name: string, log: Log): void {
	const sentence = `The local pack ${name} has the name of a server. Where both have a tool, run calls the local one. Rename one of them to reach both.`;
	warnOnce(log, 'run.pack.collision', sentence, {pack: name});
}
