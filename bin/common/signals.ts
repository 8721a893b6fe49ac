import process from 'node:process';

/** What a person or a supervisor asks for by signals: each one is more urgent than the one before. */
export type Stop = {
	/** Please end. */
	readonly asked: Promise<void>;
	/** Do not wait for anybody, but save what there is to save. */
	readonly urged: Promise<void>;
};

/** Listens from the start, so that no signal is missed, however early. The third one ends the process at once. */
export function listenForStop(exitNow: (code: number) => void): Stop {
	const resolvers: Array<() => void> = [];
	const step = (): Promise<void> =>
		new Promise(resolve => {
			resolvers.push(resolve);
		});
	const stop: Stop = {asked: step(), urged: step()};
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
