import type {ConfigLayer, LayerValue} from './layer.js';
import {roleSettings} from './settings.js';
import type {RolePreset} from './types.js';

/** Layers as one: of each key the value of the first layer that has it. */
export class MergedLayers {
	readonly #layers: readonly ConfigLayer[];
	readonly origins = new Map<string, string>();

	constructor(layers: readonly ConfigLayer[]) {
		this.#layers = layers;
	}

	value(name: string, fallback: unknown): unknown {
		const found = this.find(name);
		this.origins.set(name, found ? formatSource(found) : 'default');
		return found ? found.value : fallback;
	}

	find(name: string): LayerValue | undefined {
		return this.#layers.map(layer => layer.get(name)).find(found => found !== undefined);
	}

	/** All keys of a table whose keys are names. */
	names(prefix: string): string[] {
		const all = this.#layers.flatMap(layer => [...layer.keys()]);
		const found = all.filter(key => key.startsWith(`${prefix}.`)).map(key => key.slice(prefix.length + 1));
		return [...new Set(found)].sort();
	}

	/** The settings that a role may preset. */
	settings(): RolePreset {
		return Object.fromEntries(roleSettings.map(({name}) => [name, this.find(name)?.value])) as RolePreset;
	}
}

export const formatSource = ({source: from, key}: LayerValue): string =>
	from === key ? from : `${from} ${key}`;

/** Flags and variables come first, in this order; all layers after them are files. */
const NON_FILE_LAYERS = 2;

/**
 * The layers with the preset of the default role at its rank: after the flags or variables that chose the role, since a
 * flag beside `--role` overrides it; before the other keys of the file that chose it.
 */
export function withDefaultRole(layers: readonly ConfigLayer[]): ConfigLayer[] {
	const at = layers.findIndex(layer => layer.has('role'));
	const role = layers[at]?.get('role')?.value;
	if (role === undefined) return [...layers];
	return layers.toSpliced(at < NON_FILE_LAYERS ? at + 1 : at, 0, rolePreset(layers, String(role)));
}

/** The same for a role that a call names, which goes before all layers. */
export const withNamedRole = (layers: readonly ConfigLayer[], role: string): ConfigLayer[] => [
	rolePreset(layers, role),
	...layers,
];

/** The same for a role that a resumed session was started with, and that is not the default any more. */
export const withResumedRole = (layers: readonly ConfigLayer[], role: string): ConfigLayer[] =>
	layers.toSpliced(NON_FILE_LAYERS, 0, rolePreset(layers, role));

function rolePreset(layers: readonly ConfigLayer[], role: string): ConfigLayer {
	const merged = new MergedLayers(layers);
	const preset: ConfigLayer = new Map();
	for (const {name} of roleSettings) {
		const found = merged.find(`roles.${role}.${name}`);
		if (found) preset.set(name, found);
	}
	return preset;
}
