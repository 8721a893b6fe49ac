import {stringify} from 'yaml';
import {printable} from '../printable.js';
import type {RateLimit} from '../units.js';
import {HIDDEN, hiddenArgs, hiddenUrl} from './hide.js';
import {listenText} from './listen.js';
import type {Loaded} from './load.js';
import type {Path} from './mistakes.js';
import {type Origin, originIn} from './origin.js';
import type {Config, Named, ServiceConfig} from './schema.js';

/** One line: a key or a value, and the place that it comes from. */
type Row = {readonly depth: number; readonly text: string; readonly from?: string};

type Scalar = string | number | boolean;

/** A value to be shown, or several below a key. Undefined ones are left out. */
type Shown = Scalar | readonly string[] | {readonly [key: string]: Shown} | undefined;

/** The column of the places where they come from, at most. */
const MAX_WIDTH = 60;

type OriginOf = (path: Path) => Origin;

/** The configuration that is in force as YAML, secrets hidden, each value with the place that it comes from. */
export function showConfig(loaded: Loaded): string {
	const {config, file} = loaded;
	const title =
		file === undefined ? '# No configuration file: all is as by default.' : `# ${printable(file)}`;
	const rows = rowsOf(wholeOf(config), [], path => originIn(loaded, path));
	const lengths = rows.filter(({from}) => from).map(({depth, text}) => depth * 2 + text.length);
	const width = lengths.reduce((width, length) => Math.min(MAX_WIDTH, Math.max(width, length)), 0);
	const lines = rows.map(({depth, text, from}) => {
		const line = `${'  '.repeat(depth)}${text}`;
		return from ? `${line.padEnd(width)}  # ${printable(from)}` : line;
	});
	return `${[title, ...lines].join('\n')}\n`;
}

const wholeOf = ({limits, services, ...config}: Config): Shown => ({
	listen: listenText(config.listen),
	tokens: config.tokens.map(() => HIDDEN),
	origins: config.origins,
	expose: config.expose,
	startupTimeout: durationText(config.startupTimeoutMs),
	runTimeout: durationText(config.runTimeoutMs),
	limits: {
		message: sizeText(limits.messageBytes),
		sessions: limits.sessions,
		idle: durationText(limits.idleMs),
		unread: sizeText(limits.unreadBytes),
		unreadFor: durationText(limits.unreadForMs),
		kept: sizeText(limits.keptBytes),
		runCall: sizeText(limits.runCallBytes),
		rate: limits.rate && rateText(limits.rate),
		clientSessions: limits.clientSessions,
		clientRuns: limits.clientRuns,
		clientRequests: limits.clientRequests,
	},
	packs: config.packs,
	secret: config.secret === undefined ? undefined : HIDDEN,
	advertise: config.advertise && hiddenUrl(config.advertise),
	store: config.store && hiddenUrl(config.store),
	servers: Object.fromEntries([...services].map(([name, service]) => [name, serviceOf(service)])),
});

/** Of a service, what has a meaning for its transport. */
function serviceOf({name: _name, isTransportGuessed: _guessed, timeoutMs, ...service}: ServiceConfig): Shown {
	const {transport, url, command, args, env, cwd, shared, ...rest} = service;
	const {headers, accept, contentType, insecure, passAuthorization, ...others} = rest;
	const ofUrl = {headers: hidden(headers), accept, contentType, insecure, passAuthorization};
	const own = url
		? {url: hiddenUrl(url), ...ofUrl}
		: {command, args: hiddenArgs(args), env: hidden(env), cwd, shared};
	return {transport, ...own, ...others, timeout: timeoutMs / 1000};
}

const hidden = (named: Named): Shown => Object.fromEntries(Object.keys(named).map(name => [name, HIDDEN]));

function rowsOf(value: Shown, path: Path, originOf: OriginOf): Row[] {
	const depth = path.length - 1;
	const name = path.length === 0 ? '' : `${scalar(String(path.at(-1)))}:`;
	const {text: from, isSecret} = originOf(path);
	if (value === undefined) return [];
	if (typeof value !== 'object') return [{depth, text: `${name} ${scalar(isSecret ? HIDDEN : value)}`, from}];
	if (Object.keys(value).length === 0)
		return [{depth, text: `${name} ${Array.isArray(value) ? '[]' : '{}'}`, from}];
	const inner = Array.isArray(value)
		? value.map((item, at) => itemRow(item, depth + 1, originOf([...path, at])))
		: Object.entries(value).flatMap(([key, below]) => rowsOf(below, [...path, key], originOf));
	return path.length === 0 ? inner : [{depth, text: name}, ...inner];
}

const itemRow = (item: string, depth: number, {text: from, isSecret}: Origin): Row => ({
	depth,
	from,
	text: `- ${scalar(isSecret ? HIDDEN : item)}`,
});

const oneLine = {lineWidth: 0, blockQuote: false} as const;

/** A value as YAML writes it on one line, without anything that a terminal would obey. */
function scalar(value: Scalar): string {
	const text = stringify(value, oneLine).trimEnd();
	if (!/\p{Cc}/u.test(text)) return text;
	return printable(stringify(value, {...oneLine, defaultStringType: 'QUOTE_DOUBLE'}).trimEnd());
}

const sizeText = (bytes: number): string => {
	if (bytes % 2 ** 20 === 0) return `${bytes / 2 ** 20}MiB`;
	return bytes % 2 ** 10 === 0 ? `${bytes / 2 ** 10}KiB` : `${bytes}B`;
};

const rateText = ({count, windowMs}: RateLimit): string =>
	`${count}/${windowMs === 1000 ? 's' : windowMs === 60_000 ? 'm' : 'h'}`;

const durationText = (ms: number): string => {
	if (ms % 60_000 === 0 && ms > 0) return `${ms / 60_000}m`;
	return ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
};
