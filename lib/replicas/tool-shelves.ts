import type {ToolList} from '../protocol/tool-list.js';
import type {Shelf} from '../tool-shelf.js';
import type {Store} from './store.js';

/** How long a list holds good that nobody has asked the server for: as long as all may have missed a change. */
const KEPT_MS = 60_000;

type Written = Omit<ToolList, 'hashes'> & {readonly hashes: ReadonlyArray<readonly [string, string]>};

/** Where replicas keep lists of tools for each other, and tell each other when one is no longer what it was. */
export const shelfFor =
	(store: Store) =>
	(...whose: readonly string[]): Shelf => {
		const names = (): readonly string[] => store.names('tools', ...whose);
		return {
			read: async () => {
				for (const name of names()) {
					const key = store.key('tools', name);
					const sealed = await store.ask(redis => redis.get(key));
					const text = typeof sealed === 'string' ? store.unseal(sealed, key) : undefined;
					if (text !== undefined) return listOf(JSON.parse(text) as Written);
				}
				return;
			},
			write: list => {
				if (!store.isUp) return;
				const key = store.key('tools', names()[0]);
				const text = JSON.stringify({...list, hashes: [...list.hashes]} satisfies Written);
				void store.ask(redis => redis.set(key, store.seal(text, key), 'PX', KEPT_MS));
				for (const name of names()) store.tell(name, list.fingerprint);
			},
			onOther: hear => void store.listenToAll(names, hear),
		};
	};

const listOf = ({hashes, ...list}: Written): ToolList => ({...list, hashes: new Map(hashes)});
