import {createServer} from 'node:net';
import {request} from 'undici';
import {formatListenAddress, type ListenAddress} from '../../config/listen-address.js';
import {type SocketState, socketState} from '../../http/unix-socket.js';
import {type DoctorFinding, errorFinding, infoFinding, okFinding} from './finding.js';

const TIMEOUT_MS = 2000;

/**
 * Checks whether the gateway can listen on its address or already does. An address in use is only an error if
 * a gateway is configured.
 */
export async function checkGateway(listen: ListenAddress, isConfigured: boolean): Promise<DoctorFinding[]> {
	const about = 'Gateway';
	const address = formatListenAddress(listen);
	if (listen.path !== undefined) return [checkSocket(address, await socketState(listen.path))];
	const reason = await listenErrorOf(listen);
	if (reason === undefined) return [okFinding(about, `${address} is free`)];
	if (reason === 'EADDRINUSE' && (await isGateway(address)))
		return [okFinding(about, `one is running on ${address}`)];
	const text =
		reason === 'EADDRINUSE'
			? `another program listens on ${address}`
			: `bridge cannot listen on ${address}: ${reason}`;
	if (!isConfigured) return [infoFinding(about, `${text}, and no gateway is configured`)];
	return [
		errorFinding(about, text, 'Stop that program, or set listen to another address in the configuration.'),
	];
}

function checkSocket(address: string, state: SocketState): DoctorFinding {
	if (state === 'not a socket')
		return errorFinding(
			'Gateway',
			`${address} is a file that is not a socket`,
			'Remove it, or use another path.',
		);
	return okFinding('Gateway', state === 'in use' ? `one is running on ${address}` : `${address} is free`);
}

const listenErrorOf = ({host, port}: ListenAddress): Promise<string | undefined> =>
	new Promise(resolve => {
		const server = createServer();
		server.once('error', ({code, message}: NodeJS.ErrnoException) => resolve(code ?? message));
		server.listen(port, host, () => server.close(() => resolve(undefined)));
	});

async function isGateway(address: string): Promise<boolean> {
	try {
		const limits = {
			headersTimeout: TIMEOUT_MS,
			bodyTimeout: TIMEOUT_MS,
			signal: AbortSignal.timeout(TIMEOUT_MS),
		};
		const {statusCode, body} = await request(`http://${address}/healthz`, limits);
		await body.dump();
		return statusCode === 200;
	} catch {
		return false;
	}
}
