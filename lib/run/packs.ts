import type {Log} from '../log.js';
import {nearest} from '../nearest.js';
import {listed, spelled} from './names.js';
import {ProgramError} from './program-error.js';
import {ToolNames} from './tool-names.js';
import type {Pack, PackTool} from './types.js';

/** The name of the pack that tells of the others. No other pack can have it. */
export const PROXY = 'proxy';

/** No name of a tool that a program means is longer. */
const MAX_NAME = 1000;

/** The packs of one run, by the names under which a program finds them. */
export class Packs {
	readonly #packs: ReadonlyMap<string, Pack>;
	readonly #names = new Map<Pack, ToolNames>();

	constructor(packs: ReadonlyMap<string, Pack>) {
		this.#packs = packs;
	}

	/** The names that a program can use, sorted. */
	get names(): string[] {
		return [...this.#packs.keys()].sort();
	}

	get entries(): IterableIterator<[string, Pack]> {
		return this.#packs.entries();
	}

	get(name: string): Pack | undefined {
		return this.#packs.get(name);
	}

	/** A pack by its own name or by the one that Python spells. */
	find(name: string): Pack | undefined {
		return this.#packs.get(name) ?? [...this.#packs.values()].find(pack => pack.name === name);
	}

	/** By which names the tools of a pack are found. */
	namesOf(pack: Pack): ToolNames {
		const known = this.#names.get(pack) ?? new ToolNames(pack);
		this.#names.set(pack, known);
		return known;
	}

	/** What a `NameError` is to say: the name may be meant as a pack or as a variable. */
	unknown(given: string): string {
		const name = given.slice(0, MAX_NAME);
		const packs = `Unknown pack '${name}'. Available packs: ${listed(this.#packs.keys())}`;
		return `name '${name}' is not defined. ${packs}${meant(name, this.names)}`;
	}

	/** The tool that a program means. Case and whatever is no letter or digit do not count. */
	tool(packName: string, name: string): {pack: Pack; tool: PackTool} {
		const toolName = name.slice(0, MAX_NAME);
		const pack = this.#packs.get(packName);
		if (!pack) throw new ProgramError('NameError', this.unknown(packName));
		if (pack.unavailable !== undefined) {
			throw new ProgramError('ToolError', `Server '${pack.name}' unavailable: ${pack.unavailable}`);
		}
		const names = this.namesOf(pack);
		const alike = names.meantBy(toolName);
		const [tool] = alike;
		if (!tool) {
			const known = names.all;
			const text = `Tool '${toolName}' not found in pack '${packName}'. Available: ${listed(known)}`;
			throw new ProgramError('ToolNotFound', text + meant(toolName, known));
		}
		if (alike.length > 1) {
			const which = listed(alike.map(({name}) => name));
			throw new ProgramError(
				'ToolNotFound',
				`Tool '${toolName}' of pack '${packName}' could be any of: ${which}`,
			);
		}
		return {pack, tool};
	}
}

/** Puts packs under their names. Local ones win, and the built-in one wins over all. */
export function namePacks(builtIn: Pack, packs: readonly Pack[], log: Log): Packs {
	const named = new Map<string, Pack>([[PROXY, builtIn]]);
	const local = packs.filter(({source}) => source === 'local');
	const proxied = packs.filter(({source}) => source === 'proxied');
	for (const pack of [...local, ...proxied]) {
		const name = spelled(pack.name);
		const other = named.get(name);
		if (other?.source === 'local' && name !== PROXY) {
			log.debug('run.pack.hidden', `The local pack ${name} stands in front of another one of that name.`);
			continue;
		}
		named.set(free(name, named), pack);
	}
	return new Packs(named);
}

function free(name: string, named: ReadonlyMap<string, Pack>): string {
	if (!named.has(name)) return name;
	if (name === PROXY) return free(`${PROXY}_`, named);
	for (let number = 2; ; number++) {
		if (!named.has(`${name}_${number}`)) return `${name}_${number}`;
	}
}

function meant(name: string, known: readonly string[]): string {
	const guess = nearest(name, known);
	return guess === '' ? '' : `. ${guess}`;
}
