import type {Log} from '../log.js';
import {warnOnce} from '../warn-once.js';
import {spelled} from './names.js';
import {Packs, PROXY} from './packs.js';
import {proxyPack} from './proxy-pack.js';
import type {Pack, RunnerOptions} from './types.js';

/**
 * The packs of one run under the names that its program finds them by, with the one that tells of them all. Local packs
 * win over servers of the same name, tool by tool, and the built-in pack wins over all.
 */
export function namedPacks(given: readonly Pack[], servers: RunnerOptions['servers'], log: Log): Packs {
	const named = new Map<string, Pack>([[PROXY, proxyPack(() => packs, servers)]]);
	const bySource = (wanted: Pack['source']): Pack[] => given.filter(({source}) => source === wanted);
	for (const pack of [...bySource('local'), ...bySource('proxied')]) {
		const wanted = wantedName(pack);
		const other = named.get(wanted);
		const isBehind = pack.source === 'proxied' && other?.source === 'local' && !other.behind;
		const name = isBehind ? wanted : freeName(wanted, named);
		if (pack.name === PROXY) warnOfReserved(name, pack, log);
		if (isBehind) warnOfCollision(name, log);
		named.set(name, isBehind ? {...other, behind: pack} : pack);
	}
	const packs: Packs = new Packs(named);
	return packs;
}

/** The name that a pack should have: `proxy` is taken. */
function wantedName({name}: Pack): string {
	const wanted = spelled(name);
	return wanted === PROXY ? `${PROXY}_` : wanted;
}

function freeName(wanted: string, named: ReadonlyMap<string, Pack>): string {
	let name = wanted;
	for (let number = 2; named.has(name); number++) name = `${wanted}_${number}`;
	return name;
}

function warnOfReserved(name: string, {source}: Pack, log: Log): void {
	const what = source === 'local' ? 'local pack' : 'server';
	const sentence = `The name proxy is that of a built-in pack, so the ${what} proxy is ${name} in run. Rename the ${what} to choose another name.`;
	warnOnce(log, 'run.pack.reserved', sentence, {pack: name, source});
}

function warnOfCollision(name: string, log: Log): void {
	const sentence = `The local pack ${name} has the name of a server. Where both have a tool, run calls the local one. Rename one of them to reach both.`;
	warnOnce(log, 'run.pack.collision', sentence, {pack: name});
}
