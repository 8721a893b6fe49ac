/** One message of an inbox, whoever wrote it. */
export type MailMessage = {
	/** The same for as long as the message is there: the writer's own id, else one made of what it says. */
	readonly id: string;
	readonly from: string;
	readonly text: string;
	/** As it stands in the file. */
	readonly timestamp: string;
	/** The same in ms since the epoch; NaN where it is no time. */
	readonly at: number;
	readonly isRead: boolean;
	readonly summary: string | undefined;
	/** The team of the sender, where it says so. */
	readonly sourceTeam: string | undefined;
	/** Of mail from program to program, which is JSON in `text`: `idle_notification`, `shutdown_request`, … */
	readonly type: string | undefined;
	readonly isUrgent: boolean;
};

/** What is in an inbox. */
export type InboxContent = {
	/** In the order of the file. What stands there twice under one id is here once. */
	readonly messages: readonly MailMessage[];
	/** How many entries are none that can be understood. They stay in the file. */
	readonly skipped: number;
};

/** How messages are written: with ATM's old id among the top-level members or not. */
export type InboxFormat = 'auto' | 'native' | 'legacy';

/** Somebody on a team's roster. */
export type TeamMember = {
	readonly name: string;
	readonly agentId: string | undefined;
	readonly isLead: boolean;
	/** Whether Claude Code runs it: the lead, or a teammate in a pane or in process. */
	readonly isClaude: boolean;
	/** Busy at present. */
	readonly isActive: boolean;
	/** Who put it there, if it was a bridge: see lib/files/process-identity.ts. */
	readonly mark: string | undefined;
	/** The hash of the session's token. */
	readonly hashedToken: string | undefined;
};

/** A team as its roster has it. */
export type MailTeam = {
	readonly name: string;
	readonly members: readonly TeamMember[];
	/** How many entries of the roster are ignored, since they have no valid name. */
	readonly skipped: number;
};
