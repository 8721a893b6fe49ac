import type {Socket} from 'node:net';
import {formatListenAddress} from '../config/listen-address.js';
import {BridgeError} from '../core/errors.js';
import {type Log, logBug} from '../core/log.js';
import {connect, type Stage} from '../core/stage.js';
import {type ByteSink, type ByteTap, recordBytes} from '../traffic-log/record-bytes.js';
import {connectTcpForForwarding, tcpEndpoint, whenConnected} from '../transports/tcp/tcp.js';
import type {RawConnection} from './connections.js';
import {type LoopDetector, stripIpv4Mapping} from './loop-detector.js';
import {type PortRule, ruleTargetText} from './port-rule.js';

type ForwardConnectionOptions = {
	readonly traffic: ByteSink;
	readonly log: Log;
	readonly loops: LoopDetector;
	readonly rule: PortRule;
	readonly port: number;
	readonly stages: (tap: ByteTap) => Stage[];
};

/** Forwards a client's connection to its target. If one side breaks, the other one is reset, too. */
export function forwardConnection(
	socket: Socket,
	{traffic, log, loops, rule, port, stages}: ForwardConnectionOptions,
): RawConnection {
	const tap = recordBytes({
		log: traffic,
		client: clientAddress(socket),
		target: ruleTargetText(rule),
		listenPort: port,
	});
	if (loops.isLoop(socket, port)) return rejectLoop(socket, tap, {log, rule, port});
	const target = connectTcpForForwarding(rule.target);
	loops.track(socket, port, target);
	let failure: BridgeError | undefined;
	const client = tcpEndpoint(socket, {
		name: clientAddress(socket),
		onBroken(error) {
			failure ??= error;
			upstream.reset();
		},
	});
	const upstream = tcpEndpoint(target, {
		name: ruleTargetText(rule),
		onBroken(error) {
			failure ??= error;
			if (isConnected) client.reset();
			else void client.close();
		},
	});
	let isConnected = false;
	const run = async (): Promise<void> => {
		isConnected = await whenConnected(target);
		if (isConnected) connect(client, stages(tap), upstream, error => logBug(log, error));
		await Promise.all([client.disconnected, upstream.disconnected]);
		tap.closed(failure);
	};
	return {
		port,
		closed: run(),
		finish: () => Promise.all([client.finish(), upstream.finish()]),
		close() {
			void client.close();
			void upstream.close();
		},
	};
}

const clientAddress = ({remoteAddress = '', remotePort: port = 0}: Socket): string =>
	formatListenAddress({host: stripIpv4Mapping(remoteAddress), port});

function rejectLoop(
	socket: Socket,
	tap: ByteTap,
	{log, rule, port}: Pick<ForwardConnectionOptions, 'log' | 'rule' | 'port'>,
): RawConnection {
	const error = new BridgeError(
		'ERR_CONFIG_INVALID',
		`Port ${port} forwards to itself`,
		'Remove the rule, or use another target.',
	);
	log.warn('raw.loop', `${error.message}, because ${ruleTargetText(rule)} is this machine.`, {port});
	socket.resetAndDestroy();
	tap.closed(error);
	return {port, closed: Promise.resolve(), finish: () => Promise.resolve(), close() {}};
}
