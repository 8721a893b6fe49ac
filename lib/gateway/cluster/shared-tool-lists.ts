import type {ToolListStore} from '../../operators/cache-tools/tool-list-store.js';
import type {ToolList} from '../../protocol/tool-list.js';
import type {SharedStore} from './shared-store.js';

/** How long a shared list is valid, since all replicas may have missed a change. */
const RETENTION_MS = 60_000;

type StoredToolList = Omit<ToolList, 'hashes'> & {readonly hashes: ReadonlyArray<readonly [string, string]>};

/** Returns the tool lists that replicas share. A replica that writes a list notifies the others. */
export const toolListStoreFor =
	(store: SharedStore) =>
	(...scope: readonly string[]): ToolListStore => {
		const names = (): readonly string[] => store.blindedNames('tools', ...scope);
		return {
			read: async () => {
				for (const name of names()) {
					const key = store.key('tools', name);
					const sealed = await store.run(redis => redis.get(key));
					const text = typeof sealed === 'string' ? store.unseal(sealed, key) : undefined;
					if (text !== undefined) return parseToolList(JSON.parse(text) as StoredToolList);
				}
				return;
			},
			write: list => {
				if (!store.isUp) return;
				const key = store.key('tools', names()[0]);
				const text = JSON.stringify({...list, hashes: [...list.hashes]} satisfies StoredToolList);
				void store.run(redis => redis.set(key, store.seal(text, key), 'PX', RETENTION_MS));
				for (const name of names()) store.publish(name, list.fingerprint);
			},
			onUpdate: onChange => void store.subscribeAll(names, onChange),
		};
	};

const parseToolList = ({hashes, ...list}: StoredToolList): ToolList => ({...list, hashes: new Map(hashes)});
