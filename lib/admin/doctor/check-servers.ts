import {StringDecoder} from 'node:string_decoder';
import {bridgeInfo} from '../../bridge-version.js';
import type {ServiceConfig} from '../../config/schema.js';
import {BridgeError} from '../../core/errors.js';
import {createLog} from '../../core/log.js';
import {redactText} from '../../core/redact.js';
import type {Endpoint} from '../../core/stage.js';
import {withRequestMeta} from '../../protocol/v2026-07-28.js';
import {isHandshakeVersion, NEWEST_HANDSHAKE, STATELESS} from '../../protocol/version.js';
import {child} from '../../transports/process/child.js';
import {describeWithheld, passVariableHint} from '../../transports/process/environment.js';
import {serverInfoOf} from '../../upstream/probe-versions.js';
import {RpcClient} from '../../upstream/rpc-client.js';
import {standaloneUpstream} from '../../upstream/standalone.js';
import {type JsonObject, objectOf} from '../../util/json.js';
import {pause} from '../../util/pause.js';
import {type DoctorFinding, errorFinding, infoFinding, okFinding} from './finding.js';

/**
 * The time limits for one server and for all servers. A first `npx -y` is slow, since it downloads the
 * package.
 */
const SERVER_TIMEOUT_MS = 30_000;
const TOTAL_TIMEOUT_MS = 120_000;
/** The number of servers that are checked concurrently. */
const MAX_AT_ONCE = 4;
/** The length of the stderr excerpt, in characters. */
const MAX_STDERR_TAIL = 500;

type CheckProgress = {
	/** Called when a server has been starting for `seconds`. `tail` is the end of its stderr. */
	readonly onSlow: (name: string, seconds: number, tail: string) => void;
	readonly onChecked: (name: string, finding: DoctorFinding) => void;
};

const SLOW_AFTER = [3, 10, 20];

/**
 * Starts or connects to each server once, several concurrently, and closes it again. Stops when `stopped`
 * resolves.
 */
export async function checkServers(
	services: Iterable<ServiceConfig>,
	stopped: Promise<unknown>,
	progress?: CheckProgress,
): Promise<DoctorFinding[]> {
	const queue = [...services];
	const names = queue.map(({name}) => name);
	const findings = new Map<string, DoctorFinding>();
	let isOver = false;
	const ended = Promise.race([stopped, pause(TOTAL_TIMEOUT_MS)]).then(() => {
		isOver = true;
	});
	const worker = async (): Promise<void> => {
		for (let next = queue.shift(); next; next = queue.shift()) {
			const finding = isOver ? notChecked(next) : await checkServer(next, ended, progress);
			findings.set(next.name, finding);
			progress?.onChecked(next.name, finding);
		}
	};
	await Promise.all(Array.from({length: MAX_AT_ONCE}, worker));
	return names.flatMap(name => findings.get(name) ?? []);
}

const about = ({name}: ServiceConfig): string => `Server ${name}`;

const notChecked = (service: ServiceConfig): DoctorFinding =>
	infoFinding(about(service), 'not checked, since the other servers took too long');

async function checkServer(
	service: ServiceConfig,
	ended: Promise<void>,
	progress: CheckProgress | undefined,
): Promise<DoctorFinding> {
	if (!service.enabled) return infoFinding(about(service), 'disabled');
	const since = performance.now();
	const tail = new StderrTail();
	const endpoint = connect(service, tail);
	const timers = SLOW_AFTER.map(after =>
		setTimeout(() => progress?.onSlow(service.name, after, tail.text), after * 1000),
	);
	const timedOut = Promise.race([ended, pause(SERVER_TIMEOUT_MS)]).then(() => {
		throw timeoutError(service.name);
	});
	try {
		const description = await Promise.race([describeServer(endpoint, service), timedOut]);
		return okFinding(about(service), `${description}, ${seconds(performance.now() - since)} s`);
	} catch (reason) {
		if (!(reason instanceof BridgeError)) throw reason;
		return failedFinding(service, reason, tail.text);
	} finally {
		for (const timer of timers) clearTimeout(timer);
		await endpoint.close();
	}
}

function connect(
	{name, url, command = '', args, env, cwd, headers}: ServiceConfig,
	tail: StderrTail,
): Endpoint {
	const log = createLog({level: 'error', write: () => {}, isPretty: false});
	if (url) return standaloneUpstream({name, url, log, headers: () => headers});
	const server = child({name, command, args, env, cwd, onStderr: chunk => tail.add(chunk)});
	// Prevents an unhandled rejection. The request to the server fails with the same error.
	server.exited.catch(() => {});
	return server;
}

/** The last part of a server's stderr. */
class StderrTail {
	#text = '';
	readonly #decoder = new StringDecoder('utf8');

	add(chunk: Buffer): void {
		this.#text = (this.#text + this.#decoder.write(chunk)).slice(-4 * MAX_STDERR_TAIL);
	}

	/** The text on one line, without secrets. */
	get text(): string {
		const lines = redactText(this.#text)
			.split('\n')
			.map(line => line.trim());
		return lines
			.filter(line => line !== '')
			.join(' / ')
			.slice(-MAX_STDERR_TAIL);
	}
}

/** Describes a server by its name and version, its protocol version and its number of tools. */
async function describeServer(
	endpoint: Endpoint,
	{targetVersion, timeoutMs}: ServiceConfig,
): Promise<string> {
	const rpcClient = new RpcClient(endpoint, Math.min(timeoutMs || SERVER_TIMEOUT_MS, SERVER_TIMEOUT_MS));
	const envelope = withRequestMeta({}, {info: bridgeInfo, capabilities: {}});
	const protocolVersion = isHandshakeVersion(targetVersion) ? targetVersion : NEWEST_HANDSHAKE;
	const params = {protocolVersion, capabilities: {}, clientInfo: bridgeInfo};
	const first = targetVersion === STATELESS ? undefined : await rpcClient.request('initialize', params);
	const isModern = first?.result === undefined;
	const response = isModern ? await rpcClient.request('server/discover', envelope) : first;
	if (response.result === undefined) throw rejectedError(endpoint.name, objectOf((first ?? response).error));
	if (!isModern) rpcClient.notify('notifications/initialized');
	const result = objectOf(response.result);
	const tools = await rpcClient.listAll('tools/list', 'tools', isModern ? envelope : {});
	const version = isModern ? STATELESS : String(result.protocolVersion ?? 'no protocol version');
	return `${nameOf(result)}, ${version}, ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`;
}

function nameOf(result: JsonObject): string {
	const {name, version} = serverInfoOf(result);
	return [name ?? 'a server without a name', version ?? ''].join(' ').trim().slice(0, 200);
}

function failedFinding(
	service: ServiceConfig,
	{message, remedy, code}: BridgeError,
	tail: string,
): DoctorFinding {
	const hasTail = tail === '' || message.includes('stderr');
	const text = hasTail ? message : `${message} Last stderr output: ${tail}`;
	const isUnusable = code === 'ERR_COMMAND_UNUSABLE' || code === 'ERR_UPSTREAM_INVALID';
	const next = isUnusable ? remedy : `Fix it, or set enabled: false for ${service.name}.`;
	const environmentHint =
		code === 'ERR_CHILD_EXITED'
			? describeWithheld(service.env, {stderrText: tail, remedy: passVariableHint(service.name)})
			: '';
	return errorFinding(about(service), text, `${next} ${environmentHint}`.trimEnd());
}

/**
 * Converts an error response. An error that bridge itself sent is about the connection and contains its
 * remedy.
 */
function rejectedError(name: string, {message, data}: JsonObject): BridgeError {
	const reason = String(message ?? 'without a reason').slice(0, 500);
	return objectOf(data).source === 'bridge'
		? new BridgeError('ERR_UPSTREAM_UNREACHABLE', reason, '')
		: new BridgeError(
				'ERR_UPSTREAM_INVALID',
				`${name} rejected initialize: ${reason}`,
				'Check that it is an MCP server: bridge versions shows what it supports.',
			);
}

const timeoutError = (name: string): BridgeError =>
	new BridgeError('ERR_UPSTREAM_TIMEOUT', `${name} did not respond before the check ended.`, '');

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
