import {stringify} from 'yaml';
import {printable} from '../util/printable.js';
import type {RateLimit} from '../util/units.js';
import type {ConfigPath} from './issues.js';
import {formatListenAddress} from './listen-address.js';
import type {LoadedConfig} from './load-config.js';
import {HIDDEN_VALUE, redactArgs, redactUrl} from './redact.js';
import type {Config, ServiceConfig, StringRecord} from './schema.js';
import {findValueOrigin, type ValueOrigin} from './value-origin.js';

/** One line of output: a key or a value, and its origin. */
type Row = {readonly depth: number; readonly text: string; readonly from?: string};

type Scalar = string | number | boolean;

/** A value to print, or several below a key. Undefined values are omitted. */
type DisplayedValue = Scalar | readonly string[] | {readonly [key: string]: DisplayedValue} | undefined;

/** The maximum column of the origin comments. */
const MAX_WIDTH = 60;

type FindOrigin = (path: ConfigPath) => ValueOrigin;

/** Formats the effective configuration as YAML with the origin of each value. Secrets are hidden. */
export function formatConfig(loaded: LoadedConfig): string {
	const {config, file} = loaded;
	const title =
		file === undefined ? '# No configuration file. All values are defaults.' : `# ${printable(file)}`;
	const rows = formatRows(displayConfig(config), [], path => findValueOrigin(loaded, path));
	const lengths = rows.filter(({from}) => from).map(({depth, text}) => depth * 2 + text.length);
	const width = lengths.reduce((width, length) => Math.min(MAX_WIDTH, Math.max(width, length)), 0);
	const lines = rows.map(({depth, text, from}) => {
		const line = `${'  '.repeat(depth)}${text}`;
		return from ? `${line.padEnd(width)}  # ${printable(from)}` : line;
	});
	return `${[title, ...lines].join('\n')}\n`;
}

const displayConfig = ({limits, services, ...config}: Config): DisplayedValue => ({
	listen: formatListenAddress(config.listen),
	tokens: config.tokens.map(() => HIDDEN_VALUE),
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
		kept: sizeText(limits.bufferBytes),
		runCall: sizeText(limits.runCallBytes),
		rate: limits.rate && rateText(limits.rate),
		clientSessions: limits.clientSessions,
		clientRuns: limits.clientRuns,
		clientRequests: limits.clientRequests,
	},
	packs: config.packs,
	secret: config.secret === undefined ? undefined : HIDDEN_VALUE,
	advertise: config.advertise && redactUrl(config.advertise),
	store: config.store && redactUrl(config.store),
	servers: Object.fromEntries([...services].map(([name, service]) => [name, displayService(service)])),
});

/** Returns the settings of a service that apply to its transport. */
function displayService({
	name: _name,
	isTransportGuessed: _isGuessed,
	timeoutMs,
	...service
}: ServiceConfig): DisplayedValue {
	const {transport, url, command, args, env, cwd, shared, ...rest} = service;
	const {headers, accept, contentType, insecure, passAuthorization, ...otherSettings} = rest;
	const urlSettings = {headers: hideValues(headers), accept, contentType, insecure, passAuthorization};
	const transportSettings = url
		? {url: redactUrl(url), ...urlSettings}
		: {command, args: redactArgs(args), env: hideValues(env), cwd, shared};
	return {transport, ...transportSettings, ...otherSettings, timeout: timeoutMs / 1000};
}

const hideValues = (record: StringRecord): DisplayedValue =>
	Object.fromEntries(Object.keys(record).map(name => [name, HIDDEN_VALUE]));

function formatRows(value: DisplayedValue, path: ConfigPath, findOrigin: FindOrigin): Row[] {
	const depth = path.length - 1;
	const name = path.length === 0 ? '' : `${scalar(String(path.at(-1)))}:`;
	const {text: from, isSecret} = findOrigin(path);
	if (value === undefined) return [];
	if (typeof value !== 'object')
		return [{depth, text: `${name} ${scalar(isSecret ? HIDDEN_VALUE : value)}`, from}];
	if (Object.keys(value).length === 0)
		return [{depth, text: `${name} ${Array.isArray(value) ? '[]' : '{}'}`, from}];
	const inner = Array.isArray(value)
		? value.map((item, at) => formatItem(item, depth + 1, findOrigin([...path, at])))
		: Object.entries(value).flatMap(([key, child]) => formatRows(child, [...path, key], findOrigin));
	return path.length === 0 ? inner : [{depth, text: name}, ...inner];
}

const formatItem = (item: string, depth: number, {text: from, isSecret}: ValueOrigin): Row => ({
	depth,
	from,
	text: `- ${scalar(isSecret ? HIDDEN_VALUE : item)}`,
});

const oneLine = {lineWidth: 0, blockQuote: false} as const;

/** Formats a value as one line of YAML and escapes control characters. */
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
