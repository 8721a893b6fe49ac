import process from 'node:process';
import {checkServers} from '../../../lib/admin/doctor/check-servers.js';
import type {DoctorFinding} from '../../../lib/admin/doctor/finding.js';
import {formatListenAddress} from '../../../lib/config/listen-address.js';
import type {Config} from '../../../lib/config/schema.js';
import {printable} from '../../../lib/util/printable.js';
import {writeText} from '../../shared/output.js';
import {gatewayUrl, printUrls, requiresLocalToken, type StartupDetails} from './announce.js';

const marks: {
	readonly [state in DoctorFinding['state'] | 'slow']: {readonly mark: string; readonly color: number};
} = {
	ok: {mark: '✔', color: 32},
	info: {mark: '-', color: 2},
	warning: {mark: '!', color: 33},
	error: {mark: '✘', color: 31},
	slow: {mark: '…', color: 33},
};

/**
 * Prints the addresses: on a terminal with the state of each server, otherwise with the URL of each service.
 */
export function printStartup(
	address: Parameters<typeof gatewayUrl>[0],
	config: Config,
	details: StartupDetails,
	stopped: Promise<unknown>,
): void {
	const base = gatewayUrl(address);
	if (process.stdout.isTTY) void printBanner(base, config, details, stopped);
	else printUrls(base, config, details);
}

/** Prints the addresses, then the state of each service once it is known. */
async function printBanner(
	base: URL,
	config: Config,
	details: StartupDetails,
	stopped: Promise<unknown>,
): Promise<void> {
	const {file, version, access} = details;
	const {listen} = config;
	const origin = listen.path === undefined ? base.origin : formatListenAddress(listen);
	const hasToken = requiresLocalToken(config, access);
	const rows = [
		[`${origin}/`, 'page; /status, /metrics'],
		[`${origin}/mcp`, 'all servers as one'],
		[`${origin}/mcp/NAME`, 'one server; bridge gateway --print-client claude|codex|cursor|vscode'],
		...(hasToken && access.by === 'token' ? [['X-Bridge-Token', `the token in ${access.file}`]] : []),
	];
	const width = Math.max(...rows.map(([left = '']) => left.length));
	const from =
		file ?? 'no configuration file: a demo. bridge import > bridge.yaml uses the servers of your clients';
	await print([
		`bridge ${version} (${from})`,
		...rows.map(([left = '', right = '']) => `  ${left.padEnd(width)}  ${right}`),
		'',
	]);
	await printServiceStates(config, stopped);
}

/** Checks each server once and prints the result. */
async function printServiceStates({services}: Config, stopped: Promise<unknown>): Promise<void> {
	const width = Math.max(0, ...[...services.keys()].map(name => name.length));
	const show = (state: keyof typeof marks, name: string, text: string): void => {
		const {mark, color} = marks[state];
		const shown = process.env.NO_COLOR ? mark : `\u001b[${color}m${mark}\u001b[0m`;
		void print([`${shown} ${printable(`${name.padEnd(width)}  ${text}`)}`]);
	};
	await checkServers(services.values(), stopped, {
		onSlow: (name, seconds, tail) =>
			show('slow', name, `starting for ${seconds} s${tail === '' ? '' : `: ${tail}`}`),
		onChecked: (name, {state, text}) => show(state, name, text),
	});
}

const print = (lines: readonly string[]): Promise<void> => writeText(process.stdout, `${lines.join('\n')}\n`);
