/** Server names are part of URLs. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const isServerName = (name: string): boolean => NAME.test(name);

/**
 * Converts a name for use in a URL: `My Server` becomes `my-server`. Returns undefined if no character is
 * usable.
 */
export function slugify(name: string): string | undefined {
	const slug = name
		.slice(0, 256)
		.toLowerCase()
		.replace(/[^a-z0-9_]+/g, '-')
		.replace(/^[-_]+|-$/g, '')
		.slice(0, 64);
	return isServerName(slug) ? slug : undefined;
}

/** Assigns unique names. Appends a number to names that are in use. */
export class UniqueNames {
	readonly #taken: Set<string>;
	/** The last number of each name, so that many equal names do not each count from 1. */
	readonly #numbers = new Map<string, number>();

	constructor(taken: Iterable<string> = []) {
		this.#taken = new Set(taken);
	}

	reserve(name: string): string {
		let candidate = name;
		let number = this.#numbers.get(name) ?? 1;
		while (this.#taken.has(candidate)) candidate = `${name.slice(0, 56)}-${++number}`;
		this.#numbers.set(name, number);
		this.#taken.add(candidate);
		return candidate;
	}
}

/** Assigns a unique name to each server: valid names are kept, others are slugified. */
export function assignServerNames(names: readonly string[]): ReadonlyMap<string, string> {
	const uniqueNames = new UniqueNames(names.filter(isServerName));
	return new Map(
		names.map(name => [name, isServerName(name) ? name : uniqueNames.reserve(slugify(name) ?? 'server')]),
	);
}
