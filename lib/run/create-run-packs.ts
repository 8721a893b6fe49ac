import type {Log} from '../core/log.js';
import {warnOnce} from '../core/warn-once.js';
import {createProxyPack} from './proxy-pack.js';
import {toPythonName} from './python-identifiers.js';
import {PROXY_PACK, RunPacks} from './run-packs.js';
import type {Pack, RunnerOptions} from './types.js';

/**
 * Creates the packs of one run, by Python name, and adds the built-in `proxy` pack. A local pack shadows a
 * proxied pack of the same name, tool by tool. The name `proxy` is reserved.
 */
export function createRunPacks(
	allPacks: readonly Pack[],
	servers: RunnerOptions['servers'],
	log: Log,
): RunPacks {
	const byName = new Map<string, Pack>([[PROXY_PACK, createProxyPack(() => packs, servers)]]);
	const bySource = (origin: Pack['source']): Pack[] => allPacks.filter(({source}) => source === origin);
	for (const pack of [...bySource('local'), ...bySource('proxied')]) {
		const preferred = preferredName(pack);
		const existing = byName.get(preferred);
		const isFallback = pack.source === 'proxied' && existing?.source === 'local' && !existing.fallback;
		const name = isFallback ? preferred : uniqueName(preferred, byName);
		if (pack.name === PROXY_PACK) warnReserved(name, pack, log);
		if (isFallback) warnCollision(name, log);
		byName.set(name, isFallback ? {...existing, fallback: pack} : pack);
	}
	const packs: RunPacks = new RunPacks(byName);
	return packs;
}

/** The Python name of a pack before it is made unique. `proxy` is reserved. */
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
	const kind = source === 'local' ? 'local pack' : 'server';
	const message = `The name proxy is reserved for a built-in pack, so the ${kind} proxy is called ${name} in run. Rename the ${kind} to choose another name.`;
	warnOnce(log, 'run.pack.reserved', message, {pack: name, source});
}

function warnCollision(name: string, log: Log): void {
	const message = `The local pack ${name} has the same name as a server. If both have a tool, run calls the local one. Rename one of them to reach both.`;
	warnOnce(log, 'run.pack.collision', message, {pack: name});
}
