import type {Socket} from 'node:net';

type SocketEnds = {
	readonly [Key in 'localAddress' | 'localPort' | 'remoteAddress' | 'remotePort']?: Socket[Key] | undefined;
};

/** Returns an IPv4 address without the prefix that IPv6 sockets add. */
export const stripIpv4Mapping = (address = ''): string => address.replace(/^::ffff:(?=\d)/, '');

/**
 * Detects forwarding loops. A rule whose target is this machine under another name would connect to itself until
 * no sockets are left.
 */
export class LoopDetector {
	/**
	 * The ports that each connection has passed, by both ends of its next connection. The local port alone is
	 * not unique: the system assigns it to several connections with different targets.
	 */
	readonly #portsByEnds = new Map<string, readonly number[]>();

	/** Whether the client of a port is a connection that came in by the same port. */
	isLoop(client: SocketEnds, port: number): boolean {
		return this.#portsPassedBy(client).includes(port);
	}

	/** Records that a client's connection to a port continues to a target, once the target is connected. */
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
