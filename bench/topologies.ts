import {httpToHttp, httpToStdio, stdioToHttp} from './http-targets.js';
import type {Options} from './options.js';
import {stdioTargets} from './stdio-targets.js';
import type {Target} from './target.js';

/** The transports of a client and a server. */
export interface Topology {
	name: string;
	title: string;
	/** The name of the minimal program, the lower bound for all others. */
	limit: string;
	targets(options: Options): Target[];
}

const topologies: Topology[] = [
	{name: 'stdio', title: 'stdio → proxy → stdio', limit: 'pipe', targets: stdioTargets},
	{name: 'http-http', title: 'HTTP → proxy → HTTP', limit: 'reverse-proxy', targets: httpToHttp},
	{name: 'http-stdio', title: 'HTTP → proxy → stdio', limit: 'http-to-stdio', targets: httpToStdio},
	{name: 'stdio-http', title: 'stdio → proxy → HTTP', limit: 'stdio-to-http', targets: stdioToHttp},
];

/** The topologies that `--topo` selects by name or part of a name; all by default. */
export const chooseTopologies = ({topo}: Options): Topology[] => {
	const names = topo ?? ['stdio', 'http'];
	const unknown = names.filter(name => !topologies.some(topology => isMeant(name, topology)));
	if (unknown.length > 0) {
		const known = [...topologies.map(({name}) => name), 'http'].join(', ');
		throw new Error(`--topo: unknown topology ${unknown.join(', ')}. Use one of ${known}.`);
	}
	return topologies.filter(topology => names.some(name => isMeant(name, topology)));
};

const isMeant = (name: string, topology: Topology): boolean =>
	topology.name === name || (name === 'http' && topology.name.includes('http'));

/** The targets of a topology. `--only` selects some, and always direct. */
export const chooseTargets = (topology: Topology, options: Options): Target[] => {
	const all = topology.targets(options);
	return all.filter(target => target.role === 'direct' || (options.only?.includes(target.name) ?? true));
};

/** Rejects names that match no target. */
export const checkNames = (chosen: Topology[], options: Options): void => {
	const known = new Set(chosen.flatMap(topology => topology.targets(options).map(({name}) => name)));
	const unknown = options.only?.filter(name => !known.has(name)) ?? [];
	if (unknown.length > 0) {
		throw new Error(`--only: unknown target ${unknown.join(', ')}. Use some of ${[...known].join(', ')}.`);
	}
};
