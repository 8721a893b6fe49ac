const units: ReadonlyArray<[ms: number, name: string]> = [
	[86_400_000, 'd'],
	[3_600_000, 'h'],
	[60_000, 'min'],
	[1000, 's'],
];

/** Formats the elapsed time in one unit. */
export function timeAgo(time: string): string {
	const ms = Date.now() - Date.parse(time);
	const [size, name] = units.find(([each]) => ms >= each) ?? [1000, 's'];
	return Number.isNaN(ms) ? '?' : `${Math.max(0, Math.floor(ms / size))} ${name} ago`;
}
