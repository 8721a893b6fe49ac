import type {Path} from './mistakes.js';

type Node<T> = {value: T | undefined; below: Map<string | number, Node<T>> | undefined};

/** What is looked up by a path. */
export type ReadonlyPathMap<T> = Pick<PathMap<T>, 'get' | 'has'>;

/**
 * Values by their paths. A tree, since a text per path would hold every key once per value below it: a file of 72 KB took
 * minutes and gigabytes.
 */
export class PathMap<T> {
	readonly #root: Node<T> = {value: undefined, below: undefined};

	get(path: Path): T | undefined {
		let node: Node<T> | undefined = this.#root;
		for (const key of path) node = node?.below?.get(key);
		return node?.value;
	}

	has(path: Path): boolean {
		return this.get(path) !== undefined;
	}

	set(path: Path, value: T): void {
		let node = this.#root;
		for (const key of path) {
			node.below ??= new Map();
			const next: Node<T> = node.below.get(key) ?? {value: undefined, below: undefined};
			node.below.set(key, next);
			node = next;
		}
		node.value = value;
	}
}
