import type {ViewState} from './page/types.js';
import type {TrafficSource} from './traffic-source.js';

/** Maximum number of methods in the filter. */
const MAX_METHODS = 500;

/** Builds the state for the page. */
export function buildViewState(
	source: TrafficSource,
): Omit<ViewState, 'hasStatus' | 'gateway' | 'canLogOut'> {
	const {name, isLive, generation, note, indexedLog: shown} = source;
	const {progress, methods, servers, connections} = shown?.index ?? EMPTY_INDEX;
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

const EMPTY_INDEX = {
	progress: {rows: 0, readBytes: 0, totalBytes: 0, tailBytes: 0, isAtEnd: true, isFull: false},
	methods: [] as string[],
	servers: new Set<string>(),
	connections: [undefined],
};
