import process from 'node:process';
import {listenText} from '../../lib/config/listen.js';
import type {Config} from '../../lib/config/schema.js';
import type {Finding} from '../../lib/doctor/finding.js';
import {lookAtEachServer} from '../../lib/doctor/servers.js';
import {printable} from '../../lib/printable.js';
import {write} from '../common/own-output.js';
import {type Announced, announce, baseOf, isTokenNeeded} from './announce.js';

const marks: {
	readonly [state in Finding['state'] | 'slow']: {readonly mark: string; readonly color: number};
} = {
	ok: {mark: '✔', color: 32},
	info: {mark: '-', color: 2},
	warning: {mark: '!', color: 33},
	error: {mark: '✘', color: 31},
	slow: {mark: '…', color: 33},
};

/** Shows people where everything is: on a terminal with the state of each server, elsewhere with the URL of each. */
export function showStart(
	address: Parameters<typeof baseOf>[0],
	config: Config,
	shown: Announced,
	stopped: Promise<unknown>,
): void {
	const base = baseOf(address);
	if (process.stdout.isTTY) void banner(base, config, shown, stopped);
	else announce(base, config, shown);
}

/** What is shown on a terminal: the addresses, and the state of each service as it is known. */
async function banner(base: URL, config: Config, shown: Announced, stopped: Promise<unknown>): Promise<void> {
	const {file, version, access} = shown;
	const {listen} = config;
	const origin = listen.path === undefined ? base.origin : listenText(listen);
	const hasToken = isTokenNeeded(config, access);
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
	await states(config, stopped);
}

/** Checks each server once, and shows what came of it. */
async function states({services}: Config, stopped: Promise<unknown>): Promise<void> {
	const width = Math.max(0, ...[...services.keys()].map(name => name.length));
	const show = (state: keyof typeof marks, name: string, text: string): void => {
		const {mark, color} = marks[state];
		const shown = process.env.NO_COLOR ? mark : `\u001b[${color}m${mark}\u001b[0m`;
		void print([`${shown} ${printable(`${name.padEnd(width)}  ${text}`)}`]);
	};
	await lookAtEachServer(services.values(), stopped, {
		onSlow: (name, seconds, tail) =>
			show('slow', name, `starting for ${seconds} s${tail === '' ? '' : `: ${tail}`}`),
		onFound: (name, {state, text}) => show(state, name, text),
	});
}

const print = (lines: readonly string[]): Promise<void> => write(process.stdout, `${lines.join('\n')}\n`);
