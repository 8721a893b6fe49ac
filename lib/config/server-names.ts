/** The name of a server is part of its URL. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const isServerName = (name: string): boolean => NAME.test(name);

/** A name as it can be part of a URL: `My Server` becomes `my-server`. Undefined where nothing of it can. */
export function slugify(name: string): string | undefined {
	const slug = name
		.slice(0, 256)
		.toLowerCase()
		.replace(/[^a-z0-9_]+/g, '-')
		.replace(/^[-_]+|-$/g, '')
		.slice(0, 64);
	return isServerName(slug) ? slug : undefined;
}

/** Gives out names that are all different: each as it is, or with a number behind it where it is taken. */
export class UniqueNames {
	readonly #taken: Set<string>;
	/** The last number of each name, so that many equal names do not count from the start each time. */
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

/** A name for each server, all different: valid ones as they are, and the slugs of the others. */
export function assignServerNames(names: readonly string[]): ReadonlyMap<string, string> {
	const uniqueNames = new UniqueNames(names.filter(isServerName));
	return new Map(
		names.map(name => [name, isServerName(name) ? name : uniqueNames.reserve(slugify(name) ?? 'server')]),
	);
}
