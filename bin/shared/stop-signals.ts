import process from 'node:process';

/** Stop requests by signals. Each further signal is more urgent. */
export type StopSignals = {
	/** The first signal: stop gracefully. */
	readonly requested: Promise<void>;
	/** The second signal: stop without waiting, but save pending data. */
	readonly forced: Promise<void>;
};

/** Registers the handlers early, so that no signal is missed. The third signal exits immediately. */
export function listenForStopSignals(exitNow: (code: number) => void): StopSignals {
	const resolvers: Array<() => void> = [];
	const step = (): Promise<void> =>
		new Promise(resolve => {
			resolvers.push(resolve);
		});
	const stop: StopSignals = {requested: step(), forced: step()};
	for (const [signal, number] of [
		['SIGHUP', 1],
		['SIGINT', 2],
		['SIGTERM', 15],
	] as const)
		process.on(signal, () => {
			const next = resolvers.shift();
			if (next) next();
			else exitNow(128 + number);
		});
	return stop;
}
