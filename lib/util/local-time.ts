/** The time of day in UTC with milliseconds, for logs for programs. */
export const utcTime = (time: Date): string => time.toISOString().slice(11);

/** The local time of day with milliseconds, for logs for people. */
export function localTime(time: Date): string {
	const parts = [time.getHours(), time.getMinutes(), time.getSeconds()].map(part =>
		String(part).padStart(2, '0'),
	);
	return `${parts.join(':')}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}
