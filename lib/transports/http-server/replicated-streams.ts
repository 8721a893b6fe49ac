export type StreamPurpose = {
	/** The id of the request that it responds to, as text; absent for server-initiated messages. */
	readonly about?: string | undefined;
	/** The last event id received on the upstream's own stream, if the messages come from there. */
	readonly upstream?: {readonly heard: string | undefined} | undefined;
};

/**
 * The metadata stored with each event, since the oldest events are evicted. `by` is the lease of the replica.
 */
export type StreamMetadata = StreamPurpose & {
	readonly by: {readonly instance: string; readonly term: number};
};

export type SharedEvent = {readonly sequence: number; readonly data: Buffer};

/** The state of a stream after a given event. */
export type StreamSnapshot = {
	/** The latest metadata; undefined for an unknown stream. */
	readonly metadata: StreamMetadata | undefined;
	readonly events: readonly SharedEvent[];
	readonly isComplete: boolean;
	/** The sequence number of the last event, once the stream has ended. */
	readonly end: number | undefined;
	/** Whether the replica that handles the request recently announced more events. */
	readonly isPending: boolean;
};

export type ReplicatedStream = {
	add(sequence: number, data: Buffer): void;
	/** Calls back when the client resumes the stream at another replica. Returns an unsubscribe function. */
	onMoved(callback: () => void): () => void;
	/** Marks the event with this sequence number as the last one. */
	end(sequence: number): void;
};

/** The streams of one session in a store that all replicas share. */
export type ReplicatedStreams = {
	begin(stream: number, purpose: StreamPurpose): ReplicatedStream;
	/** The state of a stream after an event; undefined while the store cannot be reached. */
	readAfter(stream: number, sequence: number): Promise<StreamSnapshot | undefined>;
	/** Whether the replica that wrote the metadata has lost its lease, so that no event can follow. */
	isOrphaned(metadata: StreamMetadata): Promise<boolean>;
	/** Notifies the replica where a stream began that its client resumed it here. */
	announceMoved(stream: number): void;
	/** Calls back when a stream may have changed. Returns an unsubscribe function. */
	watch(stream: number, onChange: () => void): () => void;
};
