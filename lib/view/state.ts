import type {State} from './page/types.js';
import type {Source} from './source.js';

/** So many names of methods are offered to choose from. */
const MAX_METHODS = 500;

/** How things are, as the page is told again and again. */
export function stateOf(source: Source): Omit<State, 'hasStatus' | 'gateway' | 'canLogOut'> {
	const {name, isLive, generation, note, shown} = source;
	const {progress, methods, servers, connections} = shown?.index ?? nothing;
	const {rows, readBytes, totalBytes, tailBytes, isAtEnd, isFull} = progress;
	return {
		name,
		isLive,
		generation,
		note,
		rows,
		readBytes,
		totalBytes,
		tailBytes,
		isAtEnd,
		isFull,
		methods: methods.filter(method => method !== '').slice(0, MAX_METHODS),
		servers: [...servers].filter(server => server !== ''),
		connections: connections.length - 1,
	};
}

const nothing = {
	progress: {rows: 0, readBytes: 0, totalBytes: 0, tailBytes: 0, isAtEnd: true, isFull: false},
	methods: [] as string[],
	servers: new Set<string>(),
	connections: [undefined],
};
