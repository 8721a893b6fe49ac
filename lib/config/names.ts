/** The name of a server is part of its URL. */
const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const isServerName = (name: string): boolean => NAME.test(name);

/** A name as it can be part of a URL: `My Server` becomes `my-server`. Undefined where nothing of it can. */
export function slugOf(name: string): string | undefined {
	const slug = name
		.slice(0, 256)
		.toLowerCase()
		.replace(/[^a-z0-9_]+/g, '-')
		.replace(/^[-_]+|-$/g, '')
		.slice(0, 64);
	return isServerName(slug) ? slug : undefined;
}

/** Gives out names that are all different: each as it is, or with a number behind it where it is taken. */
export class FreeNames {
	readonly #taken: Set<string>;
	/** The last number of each name, so that many equal names do not count from the start each time. */
	readonly #numbers = new Map<string, number>();

	constructor(taken: Iterable<string> = []) {
		this.#taken = new Set(taken);
	}

	take(name: string): string {
		let free = name;
		let number = this.#numbers.get(name) ?? 1;
		while (this.#taken.has(free)) free = `${name.slice(0, 56)}-${++number}`;
		this.#numbers.set(name, number);
		this.#taken.add(free);
		return free;
	}
}

/** A name for each server, all different: valid ones as they are, and the slugs of the others. */
export function serverNames(names: readonly string[]): ReadonlyMap<string, string> {
	const free = new FreeNames(names.filter(isServerName));
	return new Map(names.map(name => [name, isServerName(name) ? name : free.take(slugOf(name) ?? 'server')]));
}
