import type {Socket} from 'node:net';
import {listenText} from '../lib/config/listen.js';
import type {Connection} from '../lib/control/connections.js';
import {type Loops, plainAddress} from '../lib/control/loops.js';
import {type Rule, targetText} from '../lib/control/rule.js';
import {BridgeError} from '../lib/errors.js';
import {type Log, logBug} from '../lib/log.js';
import {type ByteSink, type ByteTap, recordBytes} from '../lib/operators/record-bytes.js';
import {connect, type Stage} from '../lib/stage.js';
import {connected, openToForward, tcpEndpoint} from '../lib/transports/tcp.js';

export type RawOptions = {
	readonly traffic: ByteSink;
	readonly log: Log;
	readonly loops: Loops;
	readonly rule: Rule;
	/** The port that the client has connected to. */
	readonly port: number;
};

/** Bytes between a client and its target. They mean nothing here, so all that there is to do is to write them down. */
export const raw = (tap: ByteTap): Stage[] => [tap.stage];

/** A client's connection, in front of one to its target. A side that breaks takes the other with it. */
export function forward(socket: Socket, {traffic, log, loops, rule, port}: RawOptions): Connection {
	const tap = recordBytes({log: traffic, client: nameOf(socket), target: targetText(rule), listenPort: port});
	if (loops.has(socket, port)) return refused(socket, tap, {log, rule, port});
	const target = openToForward(rule.target);
	loops.note(socket, port, target);
	let failure: BridgeError | undefined;
	const client = tcpEndpoint(socket, {
		name: nameOf(socket),
		onBroken(error) {
			failure ??= error;
			upstream.reset();
		},
	});
	const upstream = tcpEndpoint(target, {
		name: targetText(rule),
		onBroken(error) {
			failure ??= error;
			if (isConnected) client.reset();
			else void client.close();
		},
	});
	let isConnected = false;
	const converse = async (): Promise<void> => {
		isConnected = await connected(target);
		if (isConnected) connect(client, raw(tap), upstream, error => logBug(log, error));
		await Promise.all([client.gone, upstream.gone]);
		tap.closed(failure);
	};
	return {
		port,
		over: converse(),
		finish: () => Promise.all([client.finish(), upstream.finish()]),
		close() {
			void client.close();
			void upstream.close();
		},
	};
}

/** The address of a client, as it stands in the log. */
const nameOf = ({remoteAddress = '', remotePort: port = 0}: Socket): string =>
	listenText({host: plainAddress(remoteAddress), port});

/** Ends a connection that leads to itself. */
function refused(
	socket: Socket,
	tap: ByteTap,
	{log, rule, port}: Omit<RawOptions, 'traffic' | 'loops'>,
): Connection {
	const error = new BridgeError(
		'ERR_CONFIG_INVALID',
		`Port ${port} forwards to itself`,
		'Remove the rule, or name another target.',
	);
	log.warn('raw.loop', `${error.message}, as ${targetText(rule)} is this machine.`, {port});
	socket.resetAndDestroy();
	tap.closed(error);
	return {port, over: Promise.resolve(), finish: () => Promise.resolve(), close() {}};
}
