import test from 'ava';
import fc from 'fast-check';
import {listOf, objectOf} from '../../lib/util/json.js';
import {connect, newCache, tool} from './cache-tools-support.js';

type Pair = ReturnType<typeof connect>;
type Json = {readonly [key: string]: unknown};

/** An event, and the index of its conversation. */
const event = fc.tuple(fc.constantFrom('change', 'respond', 'request', 'leave', 'join'), fc.nat(2));

/** An upstream whose tool differs after each change. A late response contains the tool at its request. */
class LateUpstream {
	readonly #time = {now: 0};
	readonly #cache = newCache({now: () => this.#time.now}).cache;
	/** The version at each tools/list request. */
	readonly #versions = new Map<unknown, number>();
	pairs: Pair[] = [];
	version = 0;
	/** The request ids of the client of each conversation. */
	readonly requestIds = new Map<Pair, string[]>();
	#ids = 0;

	#recordVersions(): void {
		for (const {upstream} of this.pairs)
			for (const {id, method} of upstream.received as Json[])
				if (method === 'tools/list' && !this.#versions.has(id)) this.#versions.set(id, this.version);
	}

	join(): void {
		if (this.pairs.length < 3) this.pairs.push(connect({cache: this.#cache}));
	}

	/** Responds to the oldest pending request of a conversation. Returns whether there was one. */
	respond({upstream}: Pair): boolean {
		const pending = (upstream.received as Json[]).find(
			({id, method}) => method === 'tools/list' && this.#versions.has(id),
		);
		if (!pending) return false;
		const version = this.#versions.get(pending.id) ?? 0;
		upstream.received.splice(upstream.received.indexOf(pending), 1);
		upstream.send({id: pending.id, result: {tools: [tool(`v${version}`)]}});
		return true;
	}

	handle(name: string, at: number): void {
		// Avoids the rate limit on fetches.
		this.#time.now += 10_000;
		const pair = this.pairs[at % Math.max(1, this.pairs.length)];
		if (name === 'join') this.join();
		if (name === 'change') {
			this.version++;
			for (const {notifyChange} of this.pairs) notifyChange();
		}
		if (pair && name === 'respond') this.respond(pair);
		if (pair && name === 'request') this.#request(pair);
		if (pair && name === 'leave') {
			pair.link.unsubscribe();
			this.pairs = this.pairs.filter(other => other !== pair);
		}
		this.#recordVersions();
	}

	#request(pair: Pair): void {
		const id = `q${++this.#ids}`;
		this.requestIds.set(pair, [...(this.requestIds.get(pair) ?? []), id]);
		pair.request(id);
	}

	/** Responds to all pending requests, including those that follow. */
	drain(): void {
		for (let rounds = 0; this.pairs.some(pair => this.respond(pair)); rounds++) {
			if (rounds > 1000) throw new Error('The requests never end.');
			this.#time.now += 10_000;
			this.#recordVersions();
		}
	}
}

const nameIn = (response: Json | undefined): unknown =>
	listOf(objectOf(response?.result).tools).map(objectOf)[0]?.name;

test('ends fresh, responds to every request once and notifies every client, in any order of events [C12]', t => {
	fc.assert(
		fc.property(fc.array(event, {maxLength: 40}), events => {
			const upstream = new LateUpstream();
			upstream.join();
			for (const [name, at] of events) upstream.handle(name, at);
			upstream.join();
			upstream.handle('nothing', 0);
			upstream.drain();
			for (const pair of upstream.pairs) {
				const {request, responseTo, client, notifications} = pair;
				const {length} = client.received;
				request('last');
				t.is(nameIn(responseTo('last')), `v${upstream.version}`);
				t.is(client.received.length, length + 1);
				t.true(notifications() > 0);
				const ids = client.received.map(({id}) => id).filter(id => String(id).startsWith('q'));
				t.deepEqual(ids.sort(), (upstream.requestIds.get(pair) ?? []).sort());
			}
		}),
		{numRuns: 200},
	);
});
