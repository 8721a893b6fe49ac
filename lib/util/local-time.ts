/** The time of day in UTC, to the millisecond: what logs for programs have. */
export const utcTime = (time: Date): string => time.toISOString().slice(11);

/** The local time of day, to the millisecond: what logs for people show. */
export function localTime(time: Date): string {
	const parts = [time.getHours(), time.getMinutes(), time.getSeconds()].map(part =>
		String(part).padStart(2, '0'),
	);
	return `${parts.join(':')}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}
