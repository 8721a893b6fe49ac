import type {Socket} from 'node:net';

/** Both ends of a connection. */
type Ends = {
	readonly [Key in 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort']?: Socket[Key] | undefined;
};

/** An address as it is written, whichever way it was taken by the system. */
export const plainAddress = (address = ''): string => address.replace(/^::ffff:(?=\d)/, '');

/**
 * Notices connections that come back to a port that they came in by. A rule whose target is this machine under another name
 * would connect to itself until there is no room for more.
 */
export class Loops {
	/**
	 * The ports that each connection has passed, by both of its ends where it goes on: the system gives one port to several
	 * connections, as long as they lead to different places.
	 */
	readonly #passed = new Map<string, readonly number[]>();

	/** Whether a client of a port is a connection that came in by the same port. */
	has(client: Ends, port: number): boolean {
		return this.#passedBy(client).includes(port);
	}

	/** Notes that what came from a client by a port goes on to a target, once that is connected. */
	note(client: Ends, port: number, target: Socket): void {
		target.once('connect', () => {
			const {localAddress, localPort, remoteAddress, remotePort} = target;
			const ends = path([localAddress, localPort], [remoteAddress, remotePort]);
			this.#passed.set(ends, [...this.#passedBy(client), port]);
			target.once('close', () => this.#passed.delete(ends));
		});
	}

	#passedBy({localAddress, localPort, remoteAddress, remotePort}: Ends): readonly number[] {
		return this.#passed.get(path([remoteAddress, remotePort], [localAddress, localPort])) ?? [];
	}
}

type End = readonly [address: string | undefined, port: number | undefined];

const path = (...ends: readonly End[]): string =>
	ends.map(([address, port]) => `${plainAddress(address)} ${port}`).join(' ');
