import {existsSync, writeFileSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import {bridgeProgram, programPath} from '../paths.js';
import {node} from '../target.js';

/** The port of a target, the port that it forwards to, and its folder. */
export type RawPlace = {readonly port: number; readonly target: number; readonly folder: string};

/** A forwarder between a TCP client and a server. */
export type RawTarget = {
	readonly name: string;
	/** Absent for direct. */
	readonly command?: (place: RawPlace) => string[];
	/** The path of its log, which is emptied after each slice. */
	readonly log?: (folder: string) => string;
	/** Whether its log shows lost lines. */
	readonly isOurs?: true;
	/** Whether it is measured only for a long time at full speed. */
	readonly isForLong?: true;
};

const isInstalled = (program: string): boolean =>
	(process.env.PATH ?? '').split(delimiter).some(folder => existsSync(join(folder, program)));

/** A shell command that discards the output. The folder in it identifies the process. */
const shell = (command: string, folder: string): string[] => ['sh', '-c', `exec ${command}`, folder];

const haproxy = ({port, target, folder}: RawPlace): string[] => {
	const file = join(folder, 'haproxy.cfg');
	const timeouts = 'timeout connect 5s\n timeout client 60s\n timeout server 60s';
	const text = `global\n nbthread 1\ndefaults\n mode tcp\n ${timeouts}\nlisten all\n bind 127.0.0.1:${port}\n server one 127.0.0.1:${target}\n`;
	writeFileSync(file, text);
	return ['haproxy', '-db', '-f', file];
};

const socat = ({port, target}: RawPlace, flags: string): string =>
	`socat ${flags} TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr,nodelay TCP:127.0.0.1:${target},nodelay`;

const mitmdump = ({port, target, folder}: RawPlace): string[] => [
	'mitmdump',
	'-q',
	'-w',
	join(folder, 'flows'),
	'--mode',
	`reverse:http://127.0.0.1:${target}`,
	'--tcp-hosts',
	'.*',
	'--listen-host',
	'127.0.0.1',
	'--listen-port',
	String(port),
	'--set',
	`confdir=${folder}`,
];

const bridge = ({port, target}: RawPlace, rest: string): string =>
	`${node} ${bridgeProgram} raw ${port}:127.0.0.1:${target} ${rest}`;

const logOf = (folder: string): string => join(folder, 'log.ndjson');

/** The targets that can be measured here; `absent` ones are not installed. */
export const rawTargets = (): {readonly present: RawTarget[]; readonly absent: string[]} => {
	const all: ReadonlyArray<RawTarget & {readonly program?: string}> = [
		{name: 'direct'},
		{name: 'pipe', command: ({port, target}) => [node, programPath('tcp-pipe'), `${port}`, `${target}`]},
		{name: 'haproxy', program: 'haproxy', command: haproxy},
		{name: 'socat', program: 'socat', command: place => shell(socat(place, ''), place.folder)},
		{
			name: 'socat -v',
			program: 'socat',
			log: logOf,
			command: place => shell(`${socat(place, '-v')} 2>${logOf(place.folder)}`, place.folder),
		},
		{
			name: 'mitmdump -w',
			program: 'mitmdump',
			command: mitmdump,
			log: folder => join(folder, 'flows'),
		},
		{name: 'bridge', command: place => shell(bridge(place, '>/dev/null'), place.folder)},
		{
			name: 'bridge+log',
			log: logOf,
			isOurs: true,
			command: place => shell(bridge(place, `--log ${logOf(place.folder)}`), place.folder),
		},
		{
			name: 'bridge+wait',
			log: logOf,
			isOurs: true,
			isForLong: true,
			command: place => shell(bridge(place, `--log ${logOf(place.folder)} --on-full wait`), place.folder),
		},
	];
	const isPresent = ({program}: {readonly program?: string}): boolean =>
		program === undefined || isInstalled(program);
	return {
		present: all.filter(isPresent),
		absent: all.filter(target => !isPresent(target)).map(({name}) => name),
	};
};
