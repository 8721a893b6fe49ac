import type {Log} from '../log.js';
import {namePacks, type Packs} from './packs.js';
import {proxyPack} from './proxy-pack.js';
import type {Pack, RunnerOptions} from './types.js';

/** The packs of one run under the names that its program finds them by, with the one that tells of them all. */
export function namedPacks(given: readonly Pack[], servers: RunnerOptions['servers'], log: Log): Packs {
	const named: Packs = namePacks(
		proxyPack(() => named, servers),
		given,
		log,
	);
	return named;
}
