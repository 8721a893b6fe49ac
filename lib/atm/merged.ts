import type {Given, Layer} from './layer.js';
import {roleSettings} from './settings.js';
import type {Role} from './types.js';

/** Layers as one: of each key the value of the first layer that has it. */
export class Merged {
	readonly #layers: readonly Layer[];
	readonly origins = new Map<string, string>();

	constructor(layers: readonly Layer[]) {
		this.#layers = layers;
	}

	value(name: string, fallback: unknown): unknown {
		const given = this.given(name);
		this.origins.set(name, given ? placeOf(given) : 'default');
		return given ? given.value : fallback;
	}

	given(name: string): Given | undefined {
		return this.#layers.map(layer => layer.get(name)).find(found => found !== undefined);
	}

	/** All keys of a table whose keys are names. */
	names(prefix: string): string[] {
		const all = this.#layers.flatMap(layer => [...layer.keys()]);
		const found = all.filter(key => key.startsWith(`${prefix}.`)).map(key => key.slice(prefix.length + 1));
		return [...new Set(found)].sort();
	}

	/** The settings that a role may preset. */
	settings(): Role {
		return Object.fromEntries(roleSettings.map(({name}) => [name, this.given(name)?.value])) as Role;
	}
}

export const placeOf = ({from, key}: Given): string => (from === key ? from : `${from} ${key}`);

/** Flags and variables come first, in this order; all layers after them are files. */
const NOT_FILES = 2;

/**
 * The layers with the preset of the default role at its rank: after the flags or variables that chose the role, since a
 * flag beside `--role` overrides it; before the other keys of the file that chose it.
 */
export function withDefaultRole(layers: readonly Layer[]): Layer[] {
	const at = layers.findIndex(layer => layer.has('role'));
	const role = layers[at]?.get('role')?.value;
	if (role === undefined) return [...layers];
	return layers.toSpliced(at < NOT_FILES ? at + 1 : at, 0, presetOf(layers, String(role)));
}

/** The same for a role that a call names, which goes before all layers. */
export const withNamedRole = (layers: readonly Layer[], role: string): Layer[] => [
	presetOf(layers, role),
	...layers,
];

/** The same for a role that a resumed session was started with, and that is not the default any more. */
export const withKeptRole = (layers: readonly Layer[], role: string): Layer[] =>
	layers.toSpliced(NOT_FILES, 0, presetOf(layers, role));

function presetOf(layers: readonly Layer[], role: string): Layer {
	const merged = new Merged(layers);
	const preset: Layer = new Map();
	for (const {name} of roleSettings) {
		const given = merged.given(`roles.${role}.${name}`);
		if (given) preset.set(name, given);
	}
	return preset;
}
