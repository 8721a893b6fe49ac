import {StringDecoder} from 'node:string_decoder';
import {Asker} from '../asker.js';
import type {ServiceConfig} from '../config/schema.js';
import {BridgeError} from '../errors.js';
import {createLog} from '../log.js';
import {ownInfo} from '../own-version.js';
import {pause} from '../pause.js';
import {type JsonObject, objectOf} from '../protocol/json.js';
import {identityOf} from '../protocol/survey.js';
import {withEnvelope} from '../protocol/v2026-07-28.js';
import {isHandshakeVersion, MODERN, NEWEST_HANDSHAKE} from '../protocol/version.js';
import type {Endpoint} from '../stage.js';
import {redactText} from '../store/redact.js';
import {child} from '../transports/child.js';
import {passInConfiguration, withheldFrom} from '../transports/environment.js';
import {overUrl} from '../transports/over-url.js';
import {error, type Finding, info, ok} from './finding.js';

/** The time for one server, and for all of them. A first `npx -y` takes longer than most. */
const SERVER_MS = 30_000;
const ALL_MS = 120_000;
/** Servers that run at once. */
const MAX_AT_ONCE = 4;
/** Characters of stderr that are shown. */
const MAX_TAIL = 500;

/** What is reported while servers are checked. */
export type CheckProgress = {
	/** One of them is still starting, for this many seconds. `tail` is the end of its stderr. */
	readonly onSlow: (name: string, seconds: number, tail: string) => void;
	readonly onFound: (name: string, finding: Finding) => void;
};

/** Seconds after which a server that is still starting is reported. */
const SLOW_AFTER = [3, 10, 20];

/** Starts or connects to each server once, several at a time, and ends it again. Stops when `stopped` resolves. */
export async function lookAtEachServer(
	services: Iterable<ServiceConfig>,
	stopped: Promise<unknown>,
	progress?: CheckProgress,
): Promise<Finding[]> {
	const waiting = [...services];
	const names = waiting.map(({name}) => name);
	const found = new Map<string, Finding>();
	let isOver = false;
	const over = Promise.race([stopped, pause(ALL_MS)]).then(() => {
		isOver = true;
	});
	const work = async (): Promise<void> => {
		for (let next = waiting.shift(); next; next = waiting.shift()) {
			const finding = isOver ? notChecked(next) : await lookAtServer(next, over, progress);
			found.set(next.name, finding);
			progress?.onFound(next.name, finding);
		}
	};
	await Promise.all(Array.from({length: MAX_AT_ONCE}, work));
	return names.flatMap(name => found.get(name) ?? []);
}

const about = ({name}: ServiceConfig): string => `Server ${name}`;

const notChecked = (service: ServiceConfig): Finding =>
	info(about(service), 'not checked, since the others took too long');

async function lookAtServer(
	service: ServiceConfig,
	over: Promise<void>,
	progress: CheckProgress | undefined,
): Promise<Finding> {
	if (!service.enabled) return info(about(service), 'disabled');
	const since = performance.now();
	const tail = new Tail();
	const endpoint = started(service, tail);
	const timers = SLOW_AFTER.map(after =>
		setTimeout(() => progress?.onSlow(service.name, after, tail.text), after * 1000),
	);
	const late = Promise.race([over, pause(SERVER_MS)]).then(() => {
		throw interrupted(service.name);
	});
	try {
		const offer = await Promise.race([offerOf(endpoint, service), late]);
		return ok(about(service), `${offer}, ${seconds(performance.now() - since)} s`);
	} catch (reason) {
		if (!(reason instanceof BridgeError)) throw reason;
		return failed(service, reason, tail.text);
	} finally {
		for (const timer of timers) clearTimeout(timer);
		await endpoint.close();
	}
}

function started({name, url, command = '', args, env, cwd, headers}: ServiceConfig, tail: Tail): Endpoint {
	const log = createLog({level: 'error', write: () => {}, isPretty: false});
	if (url) return overUrl({name, url, log, headers: () => headers});
	const server = child({name, command, args, env, cwd, onStderr: chunk => tail.add(chunk)});
	// The request to it fails with the same error.
	server.exited.catch(() => {});
	return server;
}

/** The end of what a server wrote to stderr. */
class Tail {
	#text = '';
	readonly #decoder = new StringDecoder('utf8');

	add(chunk: Buffer): void {
		this.#text = (this.#text + this.#decoder.write(chunk)).slice(-4 * MAX_TAIL);
	}

	/** On one line, without secrets. */
	get text(): string {
		const lines = redactText(this.#text)
			.split('\n')
			.map(line => line.trim());
		return lines
			.filter(line => line !== '')
			.join(' / ')
			.slice(-MAX_TAIL);
	}
}

/** The version of a server, the protocol version that it speaks, and the number of its tools. */
async function offerOf(endpoint: Endpoint, {targetVersion, timeoutMs}: ServiceConfig): Promise<string> {
	const asker = new Asker(endpoint, Math.min(timeoutMs || SERVER_MS, SERVER_MS));
	const envelope = withEnvelope({}, {info: ownInfo, capabilities: {}});
	const protocolVersion = isHandshakeVersion(targetVersion) ? targetVersion : NEWEST_HANDSHAKE;
	const params = {protocolVersion, capabilities: {}, clientInfo: ownInfo};
	const first = targetVersion === MODERN ? undefined : await asker.ask('initialize', params);
	const isModern = first?.result === undefined;
	const answer = isModern ? await asker.ask('server/discover', envelope) : first;
	if (answer.result === undefined) throw refused(endpoint.name, objectOf((first ?? answer).error));
	if (!isModern) asker.tell('notifications/initialized');
	const result = objectOf(answer.result);
	const tools = await asker.list('tools/list', 'tools', isModern ? envelope : {});
	const version = isModern ? MODERN : String(result.protocolVersion ?? 'no protocol version');
	return `${nameOf(result)}, ${version}, ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`;
}

function nameOf(result: JsonObject): string {
	const {name, version} = identityOf(result);
	return [name ?? 'a server without a name', version ?? ''].join(' ').trim().slice(0, 200);
}

function failed(service: ServiceConfig, {message, remedy, code}: BridgeError, tail: string): Finding {
	const hasTail = tail === '' || message.includes('stderr');
	const text = hasTail ? message : `${message} Last stderr output: ${tail}`;
	const isUnusable = code === 'ERR_COMMAND_UNUSABLE' || code === 'ERR_UPSTREAM_INVALID';
	const next = isUnusable ? remedy : `Fix it, or set enabled: false for ${service.name}.`;
	const withheld =
		code === 'ERR_CHILD_EXITED'
			? withheldFrom(service.env, {said: tail, remedy: passInConfiguration(service.name)})
			: '';
	return error(about(service), text, `${next} ${withheld}`.trimEnd());
}

/** An error response. If bridge itself sent it, it is about the connection and has a remedy already. */
function refused(name: string, {message, data}: JsonObject): BridgeError {
	const reason = String(message ?? 'without a reason').slice(0, 500);
	return objectOf(data).source === 'bridge'
		? new BridgeError('ERR_UPSTREAM_UNREACHABLE', reason, '')
		: new BridgeError(
				'ERR_UPSTREAM_INVALID',
				`${name} rejected initialize: ${reason}`,
				'Check that it is an MCP server: bridge versions shows what it supports.',
			);
}

const interrupted = (name: string): BridgeError =>
	new BridgeError('ERR_UPSTREAM_TIMEOUT', `${name} did not respond before the check ended.`, '');

const seconds = (ms: number): string => (ms / 1000).toFixed(1);
