/** Mail statistics since the start. */
export type MailCounters = {
	turns: number;
	delivered: number;
	/** Delivered messages with an earlier delivery attempt. */
	redelivered: number;
	/** Messages that failed too often and are no longer retried. */
	parked: number;
	/** Messages that are irrelevant to a model and were only marked as read. */
	notices: number;
};

export const createMailCounters = (): MailCounters => ({
	turns: 0,
	delivered: 0,
	redelivered: 0,
	parked: 0,
	notices: 0,
});
