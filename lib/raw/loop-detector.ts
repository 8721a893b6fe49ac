import type {Socket} from 'node:net';

/** Both ends of a connection. */
type SocketEnds = {
	readonly [Key in 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort']?: Socket[Key] | undefined;
};

/** An address as it is written, whichever way it was taken by the system. */
export const stripIpv4Mapping = (address = ''): string => address.replace(/^::ffff:(?=\d)/, '');

/**
 * Notices connections that come back to a port that they came in by. A rule whose target is this machine under another name
 * would connect to itself until there is no room for more.
 */
export class LoopDetector {
	/**
	 * The ports that each connection has passed, by both of its ends where it goes on: the system gives one port to several
	 * connections, as long as they lead to different places.
	 */
	readonly #portsByEnds = new Map<string, readonly number[]>();

	/** Whether a client of a port is a connection that came in by the same port. */
	isLoop(client: SocketEnds, port: number): boolean {
		return this.#portsPassedBy(client).includes(port);
	}

	/** Notes that what came from a client by a port goes on to a target, once that is connected. */
	track(client: SocketEnds, port: number, target: Socket): void {
		target.once('connect', () => {
			const {localAddress, localPort, remoteAddress, remotePort} = target;
			const key = endsKey([localAddress, localPort], [remoteAddress, remotePort]);
			this.#portsByEnds.set(key, [...this.#portsPassedBy(client), port]);
			target.once('close', () => this.#portsByEnds.delete(key));
		});
	}

	#portsPassedBy({localAddress, localPort, remoteAddress, remotePort}: SocketEnds): readonly number[] {
		return this.#portsByEnds.get(endsKey([remoteAddress, remotePort], [localAddress, localPort])) ?? [];
	}
}

type SocketEnd = readonly [address: string | undefined, port: number | undefined];

const endsKey = (...ends: readonly SocketEnd[]): string =>
	ends.map(([address, port]) => `${stripIpv4Mapping(address)} ${port}`).join(' ');
