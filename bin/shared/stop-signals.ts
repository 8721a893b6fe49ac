import process from 'node:process';

/** What a person or a supervisor asks for by signals: each one is more urgent than the one before. */
export type StopSignals = {
	/** Please end. */
	readonly requested: Promise<void>;
	/** Do not wait for anybody, but save what there is to save. */
	readonly forced: Promise<void>;
};

/** Listens from the start, so that no signal is missed, however early. The third one ends the process at once. */
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
