import test from 'ava';
import {Subject} from 'rxjs';
import {bypassWhen} from '../../lib/core/bypass.js';
import {Envelope} from '../../lib/core/envelope.js';
import {BridgeError} from '../../lib/core/errors.js';
import {perMessage, type Stage, stage} from '../../lib/core/stage.js';
import {converse} from '../helpers/pipeline.js';

/** A stage that appends its name to `path` in each message. */
const named = (name: string): Stage =>
	perMessage({
		toUpstream: envelope => envelope.with({...envelope.body, path: `${envelope.body.path ?? ''}${name}`}),
		toClient: envelope => envelope.with({...envelope.body, path: `${envelope.body.path ?? ''}${name}`}),
	});

test('passes messages through the stages in order, and in reverse order to the client', t => {
	const {client, upstream} = converse(bypassWhen(() => false, [named('a'), {}, named('b')]));
	client.send({method: 'm'});
	upstream.send({method: 'm'});
	t.is(upstream.received[0]?.path, 'ab');
	t.is(client.received[0]?.path, 'ba');
});

test('bypasses the stages in both directions exactly while the predicate is true', t => {
	let canBypass = false;
	const {client, upstream} = converse(
		bypassWhen(() => canBypass, [named('a')]),
		named('z'),
	);
	const paths = [false, true, false].map(value => {
		canBypass = value;
		client.send({method: 'm'});
		upstream.send({method: 'm'});
		return [upstream.received.at(-1)?.path, client.received.at(-1)?.path];
	});
	t.deepEqual(paths, [
		['az', 'za'],
		['z', 'z'],
		['az', 'za'],
	]);
});

test('applies a changed predicate from the next message on', t => {
	let canBypass = false;
	const enabling = perMessage({
		toUpstream(envelope) {
			canBypass = true;
			return envelope;
		},
	});
	const {client, upstream} = converse(bypassWhen(() => canBypass, [enabling, named('a')]));
	client.send({method: 'm'});
	client.send({method: 'm'});
	t.deepEqual(
		upstream.received.map(({path}) => path),
		['a', undefined],
	);
});

test('forwards messages that a bypassed stage emits itself', t => {
	let emit = (): void => {};
	const emitter = stage(out => {
		emit = () => {
			for (const output of [out.toUpstream, out.toClient]) output(Envelope.of({method: 'own'}));
		};
		return {};
	});
	const {client, upstream} = converse(bypassWhen(() => true, [emitter]));
	emit();
	t.deepEqual(upstream.received, [{method: 'own'}]);
	t.deepEqual(client.received, [{method: 'own'}]);
});

/** A stage that records the end of the conversation. */
function recordingStage(): {stage: Stage; readonly seen: unknown[]} {
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

for (const canBypass of [true, false]) {
	const path = canBypass ? 'around' : 'through';
	test(`completes the stages and the upstream when the client ends while messages go ${path} the stages`, t => {
		const {stage: recorder, seen} = recordingStage();
		const {client, upstream} = converse(bypassWhen(() => canBypass, [recorder]));
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

	test(`passes the error of the upstream to the stages and the subscriber while messages go ${path} the stages`, t => {
		const {stage: recorder, seen} = recordingStage();
		const upstream = new Subject<Envelope>();
		const error = new BridgeError('ERR_CHILD_EXITED', 'It died.', 'Look.');
		let received: unknown;
		const {toClient} = bypassWhen(() => canBypass, [recorder]);
		toClient?.(upstream).subscribe({
			error(reason) {
				received = reason;
			},
		});
		upstream.error(error);
		t.deepEqual(seen, [error]);
		t.is(received, error);
	});
}

test('tears down the stages when the conversation is unsubscribed', t => {
	const {stage: recorder, seen} = recordingStage();
	const {link} = converse(bypassWhen(() => true, [recorder]));
	link.unsubscribe();
	t.deepEqual(seen, ['stopped']);
});

test('forwards nothing after the end', t => {
	const {client, upstream} = converse(bypassWhen(() => true, [named('a')]));
	client.end();
	client.send({method: 'm'});
	t.deepEqual(upstream.received, []);
});
