import type {Member} from './member.js';

/** How much of the servers' logs the client wants to hear: each server is told, and those that come later, too. */
export class LogLevel {
	#level: string | undefined;
	readonly #told = new WeakMap<Member, string>();

	want(level: string, members: readonly Member[]): void {
		this.#level = level;
		for (const member of members) this.tell(member);
	}

	/** Tells a server, unless it knows. One that refuses goes on as it is; nobody waits for it. */
	tell(member: Member): void {
		const level = this.#level;
		if (level === undefined || !member.offers('logging') || this.#told.get(member) === level) return;
		this.#told.set(member, level);
		void member.link?.ask('logging/setLevel', {level});
	}

	/** A server that comes back has to be told again. */
	left(member: Member): void {
		this.#told.delete(member);
	}
}
