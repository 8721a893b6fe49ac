import test from 'ava';
import fc from 'fast-check';
import {type SseEvent, SseParser} from '../../lib/wire/sse.js';

const eventsOf = (...texts: string[]): SseEvent[] => {
	const parser = new SseParser(1000);
	return texts.flatMap(text => parser.push(text));
};

test('an event ends with an empty line', t => {
	t.deepEqual(eventsOf('data: a\n'), []);
	t.deepEqual(eventsOf('data: a\n\n'), [{data: 'a'}]);
});

test('lines of data are one text, one space behind the colon is none of it', t => {
	t.deepEqual(eventsOf('data: a\ndata:b\ndata:  c\n\n'), [{data: 'a\nb\n c'}]);
});

test('an event has an id and a time to come back after', t => {
	t.deepEqual(eventsOf('id: 7\nretry: 300\ndata:\n\n'), [{data: '', id: '7', retryMs: 300}]);
});

test('comments, other fields and empty events are passed over', t => {
	t.deepEqual(eventsOf(': hello\n\nevent: message\nfoo\ndata: a\n\n\n'), [{data: 'a'}]);
});

test('lines end in any of three ways', t => {
	t.deepEqual(eventsOf('data: a\r\n\r\ndata: b\r\rdata: c\n\n'), [{data: 'a'}, {data: 'b'}, {data: 'c'}]);
});

test('events are the same wherever the text is cut', t => {
	const text = 'id: 1\r\ndata: {"a":1}\r\n\r\ndata: b\ndata: c\n\n';
	const property = fc.property(fc.array(fc.nat(text.length)), cuts => {
		const places = [0, ...cuts.sort((one, other) => one - other), text.length];
		const parts = places.slice(1).map((end, at) => text.slice(places[at], end));
		return JSON.stringify(eventsOf(...parts)) === JSON.stringify(eventsOf(text));
	});
	t.notThrows(() => fc.assert(property));
});

test('an event that is too long is refused, not kept', t => {
	const parser = new SseParser(10);
	t.throws(() => parser.push('data: 0123456789'), {instanceOf: RangeError});
});
