/** What the page is told by its server. All texts in it come from anywhere, and are only ever shown as texts. */

/** What a line of a log is. */
export type RowKind = 'broken' | 'event' | 'data' | 'request' | 'notification' | 'result' | 'error' | 'other';

/** A row of the list. */
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
	/** What more there is to say in a few words: the name of a tool, the message of an error. */
	readonly title: string;
	readonly id: string;
	readonly size: number;
	/** Microseconds between request and answer. */
	readonly latency: number | null;
	readonly status: 'ok' | 'error' | 'open' | '';
	readonly version: string;
	/** Numbers of other rows: the answer or the request, and the same message on the other side. -1 where there is none. */
	readonly pair: number;
	readonly twin: number;
};

/** A line, and what belongs to it. */
export type LineDetail = {
	readonly row: ListedRow;
	readonly text: string;
	/** Length of the whole line in bytes. */
	readonly bytes: number;
	readonly isCut: boolean;
};

export type ListedRows = {
	readonly generation: number;
	/** How many there are in all, as far as is known. */
	readonly total: number;
	/** How much has been looked at for that, from 0 to 1. */
	readonly share: number;
	readonly from: number;
	readonly rows: readonly ListedRow[];
};

/** What happened in a stretch of time. Latencies are in microseconds. */
export type LatencyInterval = {
	/** When it begins, in microseconds since the epoch. */
	readonly time: number;
	readonly count: number;
	readonly errors: number;
	readonly median: number;
	/** 95 of 100 took no longer. */
	readonly high: number;
	readonly max: number;
	/** The row that took longest. */
	readonly row: number;
};

export type LatencyOverTime = {
	readonly from: number;
	readonly to: number;
	/** Stretches in which anything was answered. */
	readonly stretches: readonly LatencyInterval[];
};

/** A connection. */
export type ListedConnection = {
	readonly id: string;
	/** Who opened it, and to whom, as the log names them. */
	readonly client: string;
	readonly upstream: string;
	/** The protocol versions that the two sides speak, once they have said so. */
	clientVersion: string | undefined;
	upstreamVersion: string | undefined;
	/** The first row of it, and the one that says that it was opened. */
	readonly first: number;
	opened: number | undefined;
	rows: number;
};

/** How far the index is. */
export type IndexProgress = {
	readonly rows: number;
	/** How much has been read, of how much. */
	readonly readBytes: number;
	readonly totalBytes: number;
	/** Bytes at the end of the log that are no whole line. */
	readonly tailBytes: number;
	/** Whether all has been read that is there. */
	readonly isAtEnd: boolean;
	/** Whether there are more lines than can be indexed. */
	readonly isFull: boolean;
};

/** How things are, told again and again. */
export type ViewState = IndexProgress & {
	readonly name: string;
	readonly isLive: boolean;
	/** Another one: what was known before is of another log. */
	readonly generation: number;
	readonly note: string;
	readonly methods: readonly string[];
	readonly servers: readonly string[];
	readonly connections: number;
	/** Whether there is a /status beside it, of services. */
	readonly hasStatus: boolean;
	/** The origin of the gateway whose traffic it is, where that is another than the origin of the page. */
	readonly gateway: string | null;
	/** Whether there is a login, and so a logout button. */
	readonly canLogOut: boolean;
};
