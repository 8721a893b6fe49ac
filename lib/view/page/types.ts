/** Types of the API of the page. All texts are untrusted and must only be shown as text. */

/** The kinds of log lines. */
export type RowKind = 'broken' | 'event' | 'data' | 'request' | 'notification' | 'result' | 'error' | 'other';

export type ListedRow = {
	readonly row: number;
	/** Microseconds since the epoch. */
	readonly time: number | null;
	readonly kind: RowKind;
	readonly conn: string;
	readonly client: string;
	readonly server: string;
	readonly isFromClient: boolean;
	readonly isUpstreamSide: boolean;
	readonly isByBridge: boolean;
	readonly method: string;
	/** A short description: the name of a tool, the message of an error. */
	readonly title: string;
	readonly id: string;
	readonly size: number;
	/** Microseconds between request and response. */
	readonly latency: number | null;
	readonly status: 'ok' | 'error' | 'open' | '';
	readonly version: string;
	/** Row numbers of the response or request, and of the same message on the other side; -1 for none. */
	readonly pair: number;
	readonly twin: number;
};

export type LineDetail = {
	readonly row: ListedRow;
	readonly text: string;
	/** Length of the complete line in bytes. */
	readonly bytes: number;
	readonly isCut: boolean;
};

export type ListedRows = {
	readonly generation: number;
	/** The number of matching rows found so far. */
	readonly total: number;
	/** The searched share of the log, from 0 to 1. */
	readonly share: number;
	readonly from: number;
	readonly rows: readonly ListedRow[];
};

/** Statistics of a time interval. Latencies are in microseconds. */
export type LatencyInterval = {
	/** Start of the interval in microseconds since the epoch. */
	readonly time: number;
	readonly count: number;
	readonly errors: number;
	readonly median: number;
	/** The 95th percentile. */
	readonly high: number;
	readonly max: number;
	/** The row with the longest latency. */
	readonly row: number;
};

export type LatencyOverTime = {
	readonly from: number;
	readonly to: number;
	/** Intervals that have responses. */
	readonly stretches: readonly LatencyInterval[];
};

export type ListedConnection = {
	readonly id: string;
	/** The names of the client and of the upstream in the log. */
	readonly client: string;
	readonly upstream: string;
	/** The protocol versions of both sides, once known. */
	clientVersion: string | undefined;
	upstreamVersion: string | undefined;
	/** Its first row, and the row of its `open` event. */
	readonly first: number;
	opened: number | undefined;
	rows: number;
};

/** The progress of the index. */
export type IndexProgress = {
	readonly rows: number;
	/** Read and total bytes of the log. */
	readonly readBytes: number;
	readonly totalBytes: number;
	/** Bytes of an incomplete line at the end of the log. */
	readonly tailBytes: number;
	/** Whether all available bytes were read. */
	readonly isAtEnd: boolean;
	/** Whether the log has more lines than the index can hold. */
	readonly isFull: boolean;
};

/** The state of the page, which is sent after each change. */
export type ViewState = IndexProgress & {
	readonly name: string;
	readonly isLive: boolean;
	/** A new number means that the log was replaced. */
	readonly generation: number;
	readonly note: string;
	readonly methods: readonly string[];
	readonly servers: readonly string[];
	readonly connections: number;
	/** Whether the page server has a /status with services. */
	readonly hasStatus: boolean;
	/** The origin of the gateway of the traffic, if it differs from the origin of the page. */
	readonly gateway: string | null;
	/** Whether the page needs a logout button. */
	readonly canLogOut: boolean;
};
