import type {ConfigPath} from './issues.js';

type PathNode<T> = {value: T | undefined; children: Map<string | number, PathNode<T>> | undefined};

export type ReadonlyPathMap<T> = Pick<PathMap<T>, 'get' | 'has'>;

/**
 * A map with paths as keys. It is a trie: with one string per path, a file of 72 KB took minutes and
 * gigabytes, since every key was repeated for each value below it.
 */
export class PathMap<T> {
	readonly #root: PathNode<T> = {value: undefined, children: undefined};

	get(path: ConfigPath): T | undefined {
		let node: PathNode<T> | undefined = this.#root;
		for (const key of path) node = node?.children?.get(key);
		return node?.value;
	}

	has(path: ConfigPath): boolean {
		return this.get(path) !== undefined;
	}

	set(path: ConfigPath, value: T): void {
		let node = this.#root;
		for (const key of path) {
			node.children ??= new Map();
			const next: PathNode<T> = node.children.get(key) ?? {value: undefined, children: undefined};
			node.children.set(key, next);
			node = next;
		}
		node.value = value;
	}
}
