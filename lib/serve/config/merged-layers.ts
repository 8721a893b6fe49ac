import type {ConfigLayer, LayerValue} from './layer.js';
import {roleSettings} from './settings.js';
import type {RolePreset} from './types.js';

/** A view of several layers. The first layer that has a key determines its value. */
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

	/** All keys of a table with user-defined keys. */
	names(prefix: string): string[] {
		const all = this.#layers.flatMap(layer => [...layer.keys()]);
		const found = all.filter(key => key.startsWith(`${prefix}.`)).map(key => key.slice(prefix.length + 1));
		return [...new Set(found)].sort();
	}

	settings(): RolePreset {
		return Object.fromEntries(roleSettings.map(({name}) => [name, this.find(name)?.value])) as RolePreset;
	}
}

export const formatSource = ({source, key}: LayerValue): string =>
	source === key ? source : `${source} ${key}`;

/** The number of layers that are not files: the flags, then the variables. */
const NON_FILE_LAYERS = 2;

/**
 * Inserts the preset of the default role. If a flag or variable selects the role, the preset comes after that
 * layer, so that another flag overrides it. If a file selects the role, the preset overrides the other keys
 * of that file.
 */
export function withDefaultRole(layers: readonly ConfigLayer[]): ConfigLayer[] {
	const at = layers.findIndex(layer => layer.has('role'));
	const role = layers[at]?.get('role')?.value;
	if (role === undefined) return [...layers];
	return layers.toSpliced(at < NON_FILE_LAYERS ? at + 1 : at, 0, rolePreset(layers, String(role)));
}

/** Inserts the preset of a role that a call names. It overrides all layers. */
export const withNamedRole = (layers: readonly ConfigLayer[], role: string): ConfigLayer[] => [
	rolePreset(layers, role),
	...layers,
];

/** Inserts the preset of the role that a resumed session was started with, if it is no longer the default. */
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
