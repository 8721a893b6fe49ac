import {isIPv6} from 'node:net';
import {listenText} from '../config/listen.js';
import {BridgeError} from '../errors.js';
import {isLoopback} from '../loopback.js';

/** A port here whose connections go to a port elsewhere. Hosts have no brackets. */
export type Rule = {
	readonly local: {readonly host: string; readonly port: number};
	readonly target: {readonly host: string; readonly port: number};
};

const LOOPBACK = '127.0.0.1';
const MAX_PORT = 65_535;
const host = String.raw`\[([0-9a-f:.]+(?:%[\w.-]+)?)\]|([a-z0-9_](?:[a-z0-9._-]*))`;
/** Compiled from constants. */
const pattern = new RegExp(`^(?:(?:${host}):)?(\\d{1,5}):(?:${host}):(\\d{1,5})$`, 'i');

/** Reads `LOCAL:HOST:PORT`, where LOCAL is a port, or an address of this machine and a port. */
export function ruleOf(text: string): Rule {
	const rule = read(text);
	if (!rule) throw malformed(text);
	return rule;
}

function read(text: string): Rule | undefined {
	const [, localIpv6, localName, localPort, ipv6, name, port] = pattern.exec(text) ?? [];
	const target = ipv6 ?? name;
	if (target === undefined || [localIpv6, ipv6].some(one => one !== undefined && !isIPv6(one))) return;
	if (Number(localPort) > MAX_PORT || !isPort(Number(port))) return;
	return {
		local: {host: localIpv6 ?? localName ?? LOOPBACK, port: Number(localPort)},
		target: {host: target, port: Number(port)},
	};
}

/** The rule for a local port, a host and its port that come from a program. Why it is none is a sentence. */
export function ruleFrom(localPort: unknown, targetHost: unknown, targetPort: unknown): Rule | string {
	if (!isPort(localPort)) return `local_port has to be an integer from 1 to ${MAX_PORT}`;
	if (!isPort(targetPort)) return `target_port has to be an integer from 1 to ${MAX_PORT}`;
	const given = typeof targetHost === 'string' ? targetHost : '';
	const bracketed = given.includes(':') && /^[0-9a-f:.]*$/i.test(given) ? `[${given}]` : given;
	return (
		read(`${localPort}:${bracketed}:${targetPort}`) ?? 'target_host has to be the name or address of a host'
	);
}

const isPort = (value: unknown): value is number =>
	Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_PORT;

/** The target as it stands in the log. */
export const targetText = ({target}: Rule): string => listenText(target);

/** Whether connections of a rule would come back to the port that they came in by, by way of these rules. */
export function isLoop(rule: Rule, others: readonly Rule[]): boolean {
	const seen = new Set<number>();
	for (let next: Rule | undefined = rule; next; ) {
		const {host: to, port}: Rule['target'] = next.target;
		if (!isHere(to) || seen.has(port)) return false;
		if (port === rule.local.port) return true;
		seen.add(port);
		next = others.find(({local}) => local.port === port);
	}
	return false;
}

const isHere = (name: string): boolean => isLoopback(name) || name === '0.0.0.0' || name === '::';

const malformed = (text: string): BridgeError =>
	new BridgeError(
		'ERR_CONFIG_INVALID',
		`${text} is not a port rule.`,
		'Write LOCAL_PORT:TARGET_HOST:TARGET_PORT, like 8080:example.com:80, with ports up to 65535 and IPv6 addresses in brackets.',
	);
