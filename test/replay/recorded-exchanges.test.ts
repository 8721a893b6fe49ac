import test from 'ava';
import {extractExchanges} from '../../lib/replay/recorded-exchanges.js';
import type {RecordedMessage} from '../../lib/traffic-log/log-contents.js';
import {recorded} from './support.js';

const asked = (at: number, key: string): RecordedMessage =>
	recorded(at, {kind: 'request', method: 'tools/call', key});
const answered = (at: number, key: string): RecordedMessage =>
	recorded(at, {kind: 'response', key, from: 'server'});
const progress = (at: number): RecordedMessage =>
	recorded(at, {method: 'notifications/progress', from: 'server'});

/** Tokens of requests and of progress are what these tests say. */
const insight = (tokens: {readonly [at: number]: string}, cancelled?: string) => ({
	tokenOf: ({index: at}: RecordedMessage) => tokens[at],
	cancelled: () => cancelled,
});

const shape = (messages: readonly RecordedMessage[], tokens = {}, cancelled?: string) =>
	extractExchanges(messages, insight(tokens, cancelled)).map(
		({message, responseSteps: course, laterSteps: sequel, isAnswered, isCancelled}) => ({
			at: message.index,
			course: course.map(step => step.message.index),
			sequel: sequel.map(step => step.message.index),
			...(isAnswered ? {} : {isAnswered}),
			...(isCancelled ? {isCancelled} : {}),
		}),
	);

test('progress belongs to the request whose token it has, and all else to the latest that is under way', t => {
	const log = recorded(4, {method: 'notifications/message', from: 'server'});
	const all = [
		asked(0, '1'),
		asked(1, '2'),
		progress(2),
		progress(3),
		log,
		answered(5, '2'),
		answered(6, '1'),
	];
	t.deepEqual(shape(all, {0: 'a', 1: 'b', 2: 'a', 3: 'b'}), [
		{at: 0, course: [2, 6], sequel: []},
		{at: 1, course: [3, 4, 5], sequel: []},
	]);
});

test('what is said while nothing is under way follows what the client said last', t => {
	const changed = recorded(2, {method: 'notifications/tools/list_changed', from: 'server'});
	const ready = recorded(3, {method: 'notifications/initialized'});
	const roots = recorded(4, {kind: 'request', method: 'roots/list', key: '0', from: 'server'});
	const reply = recorded(5, {kind: 'response', key: '0'});
	const log = recorded(6, {method: 'notifications/message', from: 'server'});
	const all = [asked(0, '1'), answered(1, '1'), changed, ready, roots, reply, log];
	t.deepEqual(shape(all), [
		{at: 0, course: [1], sequel: [2]},
		{at: 3, course: [4, 6], sequel: [], isAnswered: false},
	]);
	const [, told] = extractExchanges(all, insight({}));
	t.deepEqual(told?.responseSteps[1], {message: log, delayMs: 1, after: [roots]});
});

test('a request that was given up has no answer', t => {
	const all = [
		asked(0, '1'),
		recorded(1, {method: 'notifications/cancelled'}),
		asked(2, '2'),
		answered(3, '2'),
	];
	t.deepEqual(shape(all, {}, '1'), [
		{at: 0, course: [], sequel: [], isAnswered: false, isCancelled: true},
		{at: 2, course: [3], sequel: []},
	]);
});
