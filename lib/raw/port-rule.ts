import {isIPv6} from 'node:net';
import {formatListenAddress} from '../config/listen-address.js';
import {BridgeError} from '../core/errors.js';
import {isLoopback} from '../util/loopback.js';

/** Forwards connections from a local port to a target. IPv6 hosts have no brackets. */
export type PortRule = {
	readonly local: {readonly host: string; readonly port: number};
	readonly target: {readonly host: string; readonly port: number};
};

const LOOPBACK = '127.0.0.1';
const MAX_PORT = 65_535;
const hostPattern = String.raw`\[([0-9a-f:.]+(?:%[\w.-]+)?)\]|([a-z0-9_](?:[a-z0-9._-]*))`;
/** Compiled from constants. */
const rulePattern = new RegExp(`^(?:(?:${hostPattern}):)?(\\d{1,5}):(?:${hostPattern}):(\\d{1,5})$`, 'i');

/** Parses `LOCAL:HOST:PORT`, where LOCAL is a port, or an address of this machine and a port. */
export function parsePortRule(text: string): PortRule {
	const rule = matchRule(text);
	if (!rule) throw malformedRule(text);
	return rule;
}

function matchRule(text: string): PortRule | undefined {
	const [, localIpv6, localName, localPort, ipv6, name, port] = rulePattern.exec(text) ?? [];
	const target = ipv6 ?? name;
	if (target === undefined || [localIpv6, ipv6].some(address => address !== undefined && !isIPv6(address)))
		return;
	if (Number(localPort) > MAX_PORT || !isPort(Number(port))) return;
	return {
		local: {host: localIpv6 ?? localName ?? LOOPBACK, port: Number(localPort)},
		target: {host: target, port: Number(port)},
	};
}

/** Creates a rule from the arguments of a tool call. Returns a message if they are invalid. */
export function createPortRule(
	localPort: unknown,
	targetHost: unknown,
	targetPort: unknown,
): PortRule | string {
	if (!isPort(localPort)) return `local_port has to be an integer from 1 to ${MAX_PORT}`;
	if (!isPort(targetPort)) return `target_port has to be an integer from 1 to ${MAX_PORT}`;
	const hostText = typeof targetHost === 'string' ? targetHost : '';
	const bracketed = hostText.includes(':') && /^[0-9a-f:.]*$/i.test(hostText) ? `[${hostText}]` : hostText;
	return (
		matchRule(`${localPort}:${bracketed}:${targetPort}`) ??
		'target_host has to be the name or address of a host'
	);
}

const isPort = (value: unknown): value is number =>
	Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_PORT;

export const ruleTargetText = ({target}: PortRule): string => formatListenAddress(target);

/** Whether connections of a rule would return to its own port through these rules. */
export function formsLoop(rule: PortRule, others: readonly PortRule[]): boolean {
	const seen = new Set<number>();
	for (let next: PortRule | undefined = rule; next; ) {
		const {host, port}: PortRule['target'] = next.target;
		if (!isThisMachine(host) || seen.has(port)) return false;
		if (port === rule.local.port) return true;
		seen.add(port);
		next = others.find(({local}) => local.port === port);
	}
	return false;
}

const isThisMachine = (name: string): boolean => isLoopback(name) || name === '0.0.0.0' || name === '::';

const malformedRule = (text: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${text} is not a port rule.`,
		'Write LOCAL_PORT:TARGET_HOST:TARGET_PORT, like 8080:example.com:80, with ports up to 65535 and IPv6 addresses in brackets.',
	);
