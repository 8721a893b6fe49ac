import test from 'ava';
import {extractExchanges} from '../../lib/replay/recorded-exchanges.js';
import type {RecordedMessage} from '../../lib/traffic-log/log-contents.js';
import {recorded} from './support.js';

const request = (at: number, key: string): RecordedMessage =>
	recorded(at, {kind: 'request', method: 'tools/call', key});
const response = (at: number, key: string): RecordedMessage =>
	recorded(at, {kind: 'response', key, from: 'server'});
const progress = (at: number): RecordedMessage =>
	recorded(at, {method: 'notifications/progress', from: 'server'});

/** Reads tokens and cancellations from these arguments instead of the messages. */
const inspector = (tokens: {readonly [at: number]: string}, cancelled?: string) => ({
	tokenOf: ({index: at}: RecordedMessage) => tokens[at],
	cancelled: () => cancelled,
});

const shape = (messages: readonly RecordedMessage[], tokens = {}, cancelled?: string) =>
	extractExchanges(messages, inspector(tokens, cancelled)).map(
		({message, responseSteps, laterSteps, hasResponse, isCancelled}) => ({
			at: message.index,
			steps: responseSteps.map(step => step.message.index),
			later: laterSteps.map(step => step.message.index),
			...(hasResponse ? {} : {hasResponse}),
			...(isCancelled ? {isCancelled} : {}),
		}),
	);

test('assigns progress to its token, and other messages to the latest pending request', t => {
	const log = recorded(4, {method: 'notifications/message', from: 'server'});
	const all = [
		request(0, '1'),
		request(1, '2'),
		progress(2),
		progress(3),
		log,
		response(5, '2'),
		response(6, '1'),
	];
	t.deepEqual(shape(all, {0: 'a', 1: 'b', 2: 'a', 3: 'b'}), [
		{at: 0, steps: [2, 6], later: []},
		{at: 1, steps: [3, 4, 5], later: []},
	]);
});

test('assigns messages without a pending request to the last client message', t => {
	const changed = recorded(2, {method: 'notifications/tools/list_changed', from: 'server'});
	const ready = recorded(3, {method: 'notifications/initialized'});
	const roots = recorded(4, {kind: 'request', method: 'roots/list', key: '0', from: 'server'});
	const reply = recorded(5, {kind: 'response', key: '0'});
	const log = recorded(6, {method: 'notifications/message', from: 'server'});
	const all = [request(0, '1'), response(1, '1'), changed, ready, roots, reply, log];
	t.deepEqual(shape(all), [
		{at: 0, steps: [1], later: [2]},
		{at: 3, steps: [4, 6], later: [], hasResponse: false},
	]);
	const [, last] = extractExchanges(all, inspector({}));
	t.deepEqual(last?.responseSteps[1], {message: log, delayMs: 1, after: [roots]});
});

test('marks a cancelled request, which has no response', t => {
	const all = [
		request(0, '1'),
		recorded(1, {method: 'notifications/cancelled'}),
		request(2, '2'),
		response(3, '2'),
	];
	t.deepEqual(shape(all, {}, '1'), [
		{at: 0, steps: [], later: [], hasResponse: false, isCancelled: true},
		{at: 2, steps: [3], later: []},
	]);
});
