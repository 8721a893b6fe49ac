import test from 'ava';
import {hasUpstreamSide, messagesSeenBy, pairResponses} from '../../lib/replay/message-sides.js';
import {recorded} from './support.js';

const request = {kind: 'request', method: 'initialize', key: '1'} as const;
const response = {kind: 'response', key: '1', from: 'server'} as const;

test('returns a changed message in the form of each side, and unchanged ones for both', t => {
	const all = [
		recorded(0, request),
		recorded(1, {...request, side: 'upstream'}),
		recorded(2, {...response, side: 'upstream'}),
		recorded(3, response),
		recorded(4, {kind: 'request', method: 'ping', key: '2'}),
		recorded(5, {...response, key: '2'}),
		recorded(6, {method: 'notifications/message', from: 'server'}),
	];
	const at = (side: 'client' | 'upstream') => messagesSeenBy(side, all).map(message => message.index);
	t.deepEqual(at('client'), [0, 3, 4, 5, 6]);
	t.deepEqual(at('upstream'), [1, 2, 4, 5, 6]);
	t.true(hasUpstreamSide(all));
	t.false(hasUpstreamSide(all.slice(4)));
});

test('omits messages that bridge handled from the upstream, and those that it created from the client', t => {
	const all = [
		recorded(0, {kind: 'request', method: 'tools/list', key: '7'}),
		recorded(1, {...response, key: '7', isByBridge: true}),
		recorded(2, {kind: 'request', method: 'tools/list', key: '"own"', side: 'upstream', isByBridge: true}),
		recorded(3, {...response, key: '"own"', side: 'upstream'}),
		recorded(4, {method: 'notifications/initialized'}),
		recorded(5, {method: 'notifications/initialized', side: 'upstream', isByBridge: true}),
	];
	const at = (side: 'client' | 'upstream') => messagesSeenBy(side, all).map(message => message.index);
	t.deepEqual(at('client'), [0, 1, 4]);
	t.deepEqual(at('upstream'), [2, 3, 5]);
});

test('pairs each request with the next response from the other side, even if ids are reused', t => {
	const all = [
		recorded(0, request),
		recorded(1, {...request, method: 'roots/list', from: 'server'}),
		recorded(2, response),
		recorded(3, {...response, from: 'client'}),
		recorded(4, request),
		recorded(5, response),
	];
	const pairs = pairResponses(all);
	const of = (at: number) => pairs.get(all[at] ?? recorded(0, {}))?.index;
	t.deepEqual([0, 1, 2, 3, 4, 5].map(of), [2, 3, 0, 1, 5, 4]);
});
