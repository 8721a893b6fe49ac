import {parseLogLine} from '../traffic-log/decode.js';
import {isObject, type JsonObject, objectOf} from '../util/json.js';
import {type IndexRow, rowFlags, rowKinds} from './index-columns.js';
import type {LogIndex} from './log-index.js';
import type {ListedRow, RowKind} from './page/types.js';

/** Longer lines are not parsed. Their title and id are guessed from their beginning. */
const MAX_PARSED_BYTES = 16 * 1024;
const MAX_TITLE = 200;

const kindNames = Object.keys(rowKinds) as RowKind[];

/** Builds a row for the message list. */
export function buildListedRow(index: LogIndex, number: number): ListedRow {
	const row = index.columns.at(number);
	const connection = index.connections[row.conn];
	const content = readRowContent(index, row);
	const isUpstreamSide = (row.flags & rowFlags.upstreamSide) !== 0;
	const isError = row.kind === rowKinds.error || (row.flags & rowFlags.toolFailed) !== 0;
	const {clientVersion = '', upstreamVersion = clientVersion} = connection ?? {};
	return {
		row: number,
		time: Number.isNaN(row.time) ? null : row.time,
		kind: kindNames[row.kind] ?? 'broken',
		conn: connection?.id ?? content.conn,
		client: connection?.client ?? '',
		server: connection?.upstream ?? '',
		isFromClient: (row.flags & rowFlags.fromClient) !== 0,
		isUpstreamSide,
		isByBridge: (row.flags & rowFlags.byBridge) !== 0,
		method: index.methods[row.method] || content.method,
		title: truncateTitle(content.title),
		id: truncateTitle(content.id),
		size: row.size || row.bytes,
		latency: requestLatency(index, row),
		status: statusOf(index, row, isError),
		version: isUpstreamSide ? upstreamVersion : clientVersion,
		pair: row.pair,
		twin: row.twin,
	};
}

/** The time between a request and its response, for either row. */
function requestLatency({columns}: LogIndex, {row, pair, time}: IndexRow): number | null {
	if (pair < 0) return null;
	const other = columns.value(pair, 'time');
	const latency = pair > row ? other - time : time - other;
	return Number.isNaN(latency) ? null : Math.max(0, latency);
}

function statusOf({columns}: LogIndex, {kind, pair}: IndexRow, isError: boolean): ListedRow['status'] {
	if (isError || kind === rowKinds.broken) return 'error';
	if (kind === rowKinds.result) return 'ok';
	if (kind !== rowKinds.request) return '';
	if (pair < 0) return 'open';
	const isFailed = columns.value(pair, 'kind') === rowKinds.error || hasFailed(columns.value(pair, 'flags'));
	return isFailed ? 'error' : 'ok';
}

const hasFailed = (bits: number): boolean => (bits & rowFlags.toolFailed) !== 0;

type RowContent = {
	readonly conn: string;
	readonly method: string;
	readonly title: string;
	readonly id: string;
};

/** Parses the content of a line, or guesses it from its beginning. */
function readRowContent({bytes}: LogIndex, {kind, offset, bytes: length, content}: IndexRow): RowContent {
	const head = bytes.slice(offset, Math.min(length, MAX_PARSED_BYTES));
	const line = length <= MAX_PARSED_BYTES ? parseLogLine(head) : undefined;
	if (kind === rowKinds.broken) return {...EMPTY_CONTENT, title: head.toString('utf8', 0, MAX_TITLE)};
	if (!line) return guessRowContent(head.toString('utf8', content, MAX_PARSED_BYTES));
	const message = objectOf(line.message);
	return {
		conn: textOf(line.ConnID),
		method: textOf(message.method ?? line.event),
		title: titleOf(line, message),
		id: idOf(message.id),
	};
}

const EMPTY_CONTENT: RowContent = {conn: '', method: '', title: '', id: ''};

function guessRowContent(text: string): RowContent {
	const [, id = ''] = /^\{[^{}]{0,200}?"id":\s*("(?:[^"\\]|\\.){0,100}"|-?[\d.eE+-]{1,30})/.exec(text) ?? [];
	const [, name = ''] = /"params":\{"name":"([^"\\]{1,100})"/.exec(text) ?? [];
	return {...EMPTY_CONTENT, id, title: name};
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

/** The first text of a result, or a summary of its members. */
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

const truncateTitle = (text: string): string =>
	text.length <= MAX_TITLE ? text : `${text.slice(0, MAX_TITLE)}…`;
