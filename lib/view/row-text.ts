import {isObject, type JsonObject, objectOf} from '../protocol/json.js';
import {parseLine} from '../store/decode.js';
import {flags, kinds, type Row} from './columns.js';
import type {LogIndex} from './log-index.js';
import type {Kind, ListedRow} from './page/types.js';

/** Lines up to this length are read for the list; of longer ones this much. */
const HEAD = 16 * 1024;
const MAX_TITLE = 200;

const kindNames = Object.keys(kinds) as Kind[];

/** What the list shows of a row. */
export function listedRow(index: LogIndex, number: number): ListedRow {
	const row = index.columns.at(number);
	const connection = index.connections[row.conn];
	const said = saidIn(index, row);
	const isUpstreamSide = (row.flags & flags.upstreamSide) !== 0;
	const isError = row.kind === kinds.error || (row.flags & flags.toolFailed) !== 0;
	const {clientVersion = '', upstreamVersion = clientVersion} = connection ?? {};
	return {
		row: number,
		time: Number.isNaN(row.time) ? null : row.time,
		kind: kindNames[row.kind] ?? 'broken',
		conn: connection?.id ?? said.conn,
		client: connection?.client ?? '',
		server: connection?.upstream ?? '',
		isFromClient: (row.flags & flags.fromClient) !== 0,
		isUpstreamSide,
		isByBridge: (row.flags & flags.byBridge) !== 0,
		method: index.methods[row.method] || said.method,
		title: short(said.title),
		id: short(said.id),
		size: row.size || row.bytes,
		latency: latencyOf(index, row),
		status: statusOf(index, row, isError),
		version: isUpstreamSide ? upstreamVersion : clientVersion,
		pair: row.pair,
		twin: row.twin,
	};
}

/** The time between a request and its answer, for either of them. */
export function latencyOf({columns}: LogIndex, {row, pair, time}: Row): number | null {
	if (pair < 0) return null;
	const other = columns.value(pair, 'time');
	const latency = pair > row ? other - time : time - other;
	return Number.isNaN(latency) ? null : Math.max(0, latency);
}

function statusOf({columns}: LogIndex, {kind, pair}: Row, isError: boolean): ListedRow['status'] {
	if (isError || kind === kinds.broken) return 'error';
	if (kind === kinds.result) return 'ok';
	if (kind !== kinds.request) return '';
	if (pair < 0) return 'open';
	const isFailed = columns.value(pair, 'kind') === kinds.error || hasFailed(columns.value(pair, 'flags'));
	return isFailed ? 'error' : 'ok';
}

const hasFailed = (bits: number): boolean => (bits & flags.toolFailed) !== 0;

type Said = {readonly conn: string; readonly method: string; readonly title: string; readonly id: string};

/** What can be read from a line, or from its beginning. */
function saidIn({bytes}: LogIndex, {kind, offset, bytes: length, content}: Row): Said {
	const head = bytes.slice(offset, Math.min(length, HEAD));
	const line = length <= HEAD ? parseLine(head) : undefined;
	if (kind === kinds.broken) return {...nothing, title: head.toString('utf8', 0, MAX_TITLE)};
	if (!line) return guessed(head.toString('utf8', content, HEAD));
	const message = objectOf(line.message);
	return {
		conn: textOf(line.ConnID),
		method: textOf(message.method ?? line.event),
		title: titleOf(line, message),
		id: idOf(message.id),
	};
}

const nothing: Said = {conn: '', method: '', title: '', id: ''};

function guessed(text: string): Said {
	const [, id = ''] = /^\{[^{}]{0,200}?"id":\s*("(?:[^"\\]|\\.){0,100}"|-?[\d.eE+-]{1,30})/.exec(text) ?? [];
	const [, name = ''] = /"params":\{"name":"([^"\\]{1,100})"/.exec(text) ?? [];
	return {...nothing, id, title: name};
}

function titleOf(line: JsonObject, message: JsonObject): string {
	if (typeof line.data === 'string') return line.data.slice(0, MAX_TITLE);
	if (typeof line.event === 'string') return eventTitle(line);
	const {params, error, result} = message;
	if (isObject(error)) return `${textOf(error.code)} ${textOf(error.message)}`.trim();
	if (isObject(result)) return resultTitle(result);
	if (!isObject(params)) return '';
	return textOf(params.name ?? params.uri ?? params.message ?? params.reason ?? params.level);
}

const eventTitle = ({from, to, error, lines, directory, endpoint}: JsonObject): string =>
	[from === undefined ? '' : `${textOf(from)} → ${textOf(to)}`, error, lines, directory, endpoint]
		.map(textOf)
		.filter(text => text !== '')
		.join(' · ');

/** The first text of a result, or what it has. */
function resultTitle(result: JsonObject): string {
	const {content, serverInfo, protocolVersion} = result;
	const first = Array.isArray(content) ? objectOf(content[0]) : {};
	if (typeof first.text === 'string') return first.text;
	if (isObject(serverInfo)) return `${textOf(serverInfo.name)} ${textOf(protocolVersion)}`;
	const lists = Object.entries(result).filter(([, value]) => Array.isArray(value));
	return lists.map(([name, list]) => `${name}: ${(list as unknown[]).length}`).join(', ');
}

const idOf = (id: unknown): string =>
	typeof id === 'string' || typeof id === 'number' ? JSON.stringify(id) : '';

const textOf = (value: unknown): string =>
	typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';

const short = (text: string): string => (text.length <= MAX_TITLE ? text : `${text.slice(0, MAX_TITLE)}…`);
