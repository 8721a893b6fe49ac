import type {Socket} from 'node:net';

/** An address as it is written, whichever way it was taken by the system. */
export const plainAddress = (address = ''): string => address.replace(/^::ffff:(?=\d)/, '');

/**
 * Notices connections that come back to a port that they came in by. A rule whose target is this machine under another name
 * would connect to itself until there is no room for more.
 */
export class Loops {
	/** The ports that each connection has passed, by the address that it goes on from. */
	readonly #passed = new Map<string, readonly number[]>();

	/** Whether a client of a port is a connection that came in by the same port. */
	has(client: Socket, port: number): boolean {
		return this.#passedBy(client).includes(port);
	}

	/** Notes that what came from a client by a port goes on to a target, once that is connected. */
	note(client: Socket, port: number, target: Socket): void {
		target.once('connect', () => {
			const from = `${plainAddress(target.localAddress)}:${target.localPort}`;
			this.#passed.set(from, [...this.#passedBy(client), port]);
			target.once('close', () => this.#passed.delete(from));
		});
	}

	#passedBy({remoteAddress, remotePort}: Socket): readonly number[] {
		return this.#passed.get(`${plainAddress(remoteAddress)}:${remotePort}`) ?? [];
	}
}
