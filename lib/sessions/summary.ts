/** The summaries of a team's sessions: `<identity>/<thread-id>/summary.md` in its folder. */
export type Summaries = {
	/** Undefined where there is none. At most 1 MiB of UTF-8 from a plain file. */
	read(identity: string, threadId: string): Promise<string | undefined>;
	/** Durable when it resolves. */
	write(identity: string, threadId: string, text: string): Promise<void>;
	/** Removes it with its folder. */
	remove(identity: string, threadId: string): Promise<void>;
	/** Where it is or would be. */
	path(identity: string, threadId: string): string;
};
