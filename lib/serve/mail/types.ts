export type MailMessage = {
	/** Stable while the message exists: the id that the sender assigned, or a hash of the content. */
	readonly id: string;
	readonly from: string;
	readonly text: string;
	/** The timestamp as in the file. */
	readonly timestamp: string;
	/** The timestamp in ms since the epoch, or NaN if it is invalid. */
	readonly at: number;
	readonly isRead: boolean;
	readonly summary: string | undefined;
	/** The team of the sender, if the message contains it. */
	readonly sourceTeam: string | undefined;
	/**
	 * The type of a structured message, which has JSON in `text`: `idle_notification`, `shutdown_request`, …
	 */
	readonly type: string | undefined;
	readonly isUrgent: boolean;
};

export type InboxContent = {
	/** In the order of the file. Copies with the same id are merged. */
	readonly messages: readonly MailMessage[];
	/** The number of entries that are not valid messages. They stay in the file. */
	readonly skipped: number;
};

/** The format of new messages. `legacy` adds a top-level `message_id`, `native` does not. */
export type InboxFormat = 'auto' | 'native' | 'legacy';

export type TeamMember = {
	readonly name: string;
	readonly agentId: string | undefined;
	readonly isLead: boolean;
	/** Whether Claude Code runs it: the lead, or a teammate in a pane or in process. */
	readonly isClaude: boolean;
	/** Whether the member is busy. */
	readonly isActive: boolean;
	/** The identity of the bridge process that wrote the entry, if any: see lib/files/process-identity.ts. */
	readonly mark: string | undefined;
	readonly hashedToken: string | undefined;
};

export type MailTeam = {
	readonly name: string;
	readonly members: readonly TeamMember[];
	/** The number of ignored entries, which have no valid name. */
	readonly skipped: number;
};
