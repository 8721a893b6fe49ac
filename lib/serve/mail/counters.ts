/** How much mail there was since the start. */
export type MailCounters = {
	/** Turns that mail has started. */
	turns: number;
	/** Messages that sessions have got. */
	delivered: number;
	/** Those of them that had been tried before. */
	redelivered: number;
	/** Messages that are not tried any more. */
	parked: number;
	/** Messages that are of no use to a model, and were only marked as read. */
	notices: number;
};

export const createMailCounters = (): MailCounters => ({
	turns: 0,
	delivered: 0,
	redelivered: 0,
	parked: 0,
	notices: 0,
});
