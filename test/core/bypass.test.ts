import test from 'ava';
import {Subject} from 'rxjs';
import {bypassWhen} from '../../lib/core/bypass.js';
import {Envelope} from '../../lib/core/envelope.js';
import {BridgeError} from '../../lib/core/errors.js';
import {perMessage, type Stage, stage} from '../../lib/core/stage.js';
import {converse} from '../helpers/pipeline.js';

/** A stage that writes its name into all that passes it. */
const named = (name: string): Stage =>
	perMessage({
		toUpstream: envelope => envelope.with({...envelope.body, way: `${envelope.body.way ?? ''}${name}`}),
		toClient: envelope => envelope.with({...envelope.body, way: `${envelope.body.way ?? ''}${name}`}),
	});

test('messages go through the stages in order, and back in the other', t => {
	const {client, upstream} = converse(bypassWhen(() => false, [named('a'), {}, named('b')]));
	client.send({method: 'm'});
	upstream.send({method: 'm'});
	t.is(upstream.received[0]?.way, 'ab');
	t.is(client.received[0]?.way, 'ba');
});

test('messages go around the stages as soon as there is nothing to do, both ways, and through them when there is', t => {
	let isPlain = false;
	const {client, upstream} = converse(
		bypassWhen(() => isPlain, [named('a')]),
		named('z'),
	);
	const ways = [false, true, false].map(plain => {
		isPlain = plain;
		client.send({method: 'm'});
		upstream.send({method: 'm'});
		return [upstream.received.at(-1)?.way, client.received.at(-1)?.way];
	});
	t.deepEqual(ways, [
		['az', 'za'],
		['z', 'z'],
		['az', 'za'],
	]);
});

test('what a message settles holds from the next one on, and not for itself', t => {
	let isPlain = false;
	const settling = perMessage({
		toUpstream(envelope) {
			isPlain = true;
			return envelope;
		},
	});
	const {client, upstream} = converse(bypassWhen(() => isPlain, [settling, named('a')]));
	client.send({method: 'm'});
	client.send({method: 'm'});
	t.deepEqual(
		upstream.received.map(({way}) => way),
		['a', undefined],
	);
});

test('what stages say of their own accord is heard, also when messages go around them', t => {
	let speak = (): void => {};
	const talkative = stage(out => {
		speak = () => {
			for (const say of [out.toUpstream, out.toClient]) say(Envelope.of({method: 'own'}));
		};
		return {};
	});
	const {client, upstream} = converse(bypassWhen(() => true, [talkative]));
	speak();
	t.deepEqual(upstream.received, [{method: 'own'}]);
	t.deepEqual(client.received, [{method: 'own'}]);
});

/** A stage that notes how the conversation ended for it. */
function watching(): {stage: Stage; readonly seen: unknown[]} {
	const seen: unknown[] = [];
	const steps = {
		upstreamClosed: (error: unknown) => void seen.push(error),
		clientEnded: (done: () => void) => {
			seen.push('done');
			done();
		},
		teardown: () => void seen.push('stopped'),
	};
	return {stage: perMessage(steps), seen};
}

for (const isPlain of [true, false]) {
	const way = isPlain ? 'around' : 'through';
	test(`the stages hear that the client is done while messages go ${way} them, and so does the upstream`, t => {
		const {stage: watcher, seen} = watching();
		const {client, upstream} = converse(bypassWhen(() => isPlain, [watcher]));
		let isOver = false;
		(upstream.outgoing as Subject<Envelope>).subscribe({
			complete() {
				isOver = true;
			},
		});
		client.end();
		t.is(seen[0], 'done');
		t.true(isOver);
	});

	test(`the stages hear what the upstream died of while messages go ${way} them, and so does who listens`, t => {
		const {stage: watcher, seen} = watching();
		const upstream = new Subject<Envelope>();
		const error = new BridgeError('ERR_CHILD_EXITED', 'It died.', 'Look.');
		let heard: unknown;
		const {toClient} = bypassWhen(() => isPlain, [watcher]);
		toClient?.(upstream).subscribe({
			error(reason) {
				heard = reason;
			},
		});
		upstream.error(error);
		t.deepEqual(seen, [error]);
		t.is(heard, error);
	});
}

test('the stages are stopped with the conversation', t => {
	const {stage: watcher, seen} = watching();
	const {link} = converse(bypassWhen(() => true, [watcher]));
	link.unsubscribe();
	t.deepEqual(seen, ['stopped']);
});

test('nothing is passed on after the end', t => {
	const {client, upstream} = converse(bypassWhen(() => true, [named('a')]));
	client.end();
	client.send({method: 'm'});
	t.deepEqual(upstream.received, []);
});
