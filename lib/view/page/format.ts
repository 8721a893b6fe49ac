const integerFormat = new Intl.NumberFormat('en');

export const formatCount = (value: number): string => integerFormat.format(value);

/** Local time of day. */
export function formatClockTime(microseconds: number | null): string {
	if (microseconds === null) return '';
	const date = new Date(microseconds / 1000);
	const two = (value: number): string => String(value).padStart(2, '0');
	const millis = String(date.getMilliseconds()).padStart(3, '0');
	return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${millis}`;
}

/** Local date and time. */
export const formatDateTime = (microseconds: number | null): string =>
	microseconds === null
		? ''
		: `${new Date(microseconds / 1000).toLocaleDateString('en-CA')} ${formatClockTime(microseconds)}`;

export function formatMicroseconds(microseconds: number | null): string {
	if (microseconds === null) return '';
	if (microseconds < 1000) return `${Math.round(microseconds)} µs`;
	if (microseconds < 1e6) return `${roundForDisplay(microseconds / 1000)} ms`;
	if (microseconds < 6e7) return `${roundForDisplay(microseconds / 1e6)} s`;
	return `${Math.floor(microseconds / 6e7)} m ${Math.round((microseconds % 6e7) / 1e6)} s`;
}

export function formatByteSize(bytes: number): string {
	if (bytes < 1000) return `${bytes} B`;
	if (bytes < 1e6) return `${roundForDisplay(bytes / 1000)} kB`;
	return bytes < 1e9 ? `${roundForDisplay(bytes / 1e6)} MB` : `${roundForDisplay(bytes / 1e9)} GB`;
}

const roundForDisplay = (value: number): string => (value < 100 ? value.toFixed(1) : value.toFixed(0));
