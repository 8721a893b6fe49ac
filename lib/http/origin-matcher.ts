/** Returns a test for a configured origin, whose port or first labels may be `*`. */
export function originMatcher(configured: string): (origin: string) => boolean {
	const anyPort = configured.endsWith(':*');
	const [scheme = '', domain] = (anyPort ? configured.slice(0, -2) : configured).toLowerCase().split('://*.');
	return header => {
		const lower = header.toLowerCase();
		const origin = anyPort ? lower.replace(/:\d{1,5}$/, '') : lower;
		if (domain === undefined) return origin === scheme;
		const [start, end] = [`${scheme}://`, `.${domain}`];
		if (!origin.startsWith(start) || !origin.endsWith(end)) return false;
		return /^[\w-]+(?:\.[\w-]+)*$/.test(origin.slice(start.length, -end.length));
	};
}
