import test from 'ava';
import fc from 'fast-check';
import {listOf, objectOf} from '../../lib/util/json.js';
import {caching, newCache, tool} from './cache-tools-support.js';

type Pair = ReturnType<typeof caching>;
type Json = {readonly [key: string]: unknown};

/** What may happen next: to which of the conversations, where it matters. */
const event = fc.tuple(fc.constantFrom('change', 'answer', 'ask', 'leave', 'join'), fc.nat(2));

/** A server whose one tool is another after each change, and that answers late with what it was when it was asked. */
class LateServer {
	readonly #time = {now: 0};
	readonly #cache = newCache({now: () => this.#time.now}).cache;
	readonly #seen = new Map<unknown, number>();
	pairs: Pair[] = [];
	version = 0;
	/** The ids of what the client of each conversation has asked. */
	readonly asked = new Map<Pair, string[]>();
	#ids = 0;

	/** Notes what has been asked, which is answered with what is true now, however late. */
	#listen(): void {
		for (const {upstream} of this.pairs)
			for (const {id, method} of upstream.received as Json[])
				if (method === 'tools/list' && !this.#seen.has(id)) this.#seen.set(id, this.version);
	}

	join(): void {
		if (this.pairs.length < 3) this.pairs.push(caching({cache: this.#cache}));
	}

	/** Answers the oldest request of a conversation that has no answer. Returns whether there was one. */
	answer({upstream}: Pair): boolean {
		const open = (upstream.received as Json[]).find(
			({id, method}) => method === 'tools/list' && this.#seen.has(id),
		);
		if (!open) return false;
		const seen = this.#seen.get(open.id) ?? 0;
		upstream.received.splice(upstream.received.indexOf(open), 1);
		upstream.send({id: open.id, result: {tools: [tool(`v${seen}`)]}});
		return true;
	}

	happen(what: string, at: number): void {
		// Time goes on, so that the server is never asked too often.
		this.#time.now += 10_000;
		const pair = this.pairs[at % Math.max(1, this.pairs.length)];
		if (what === 'join') this.join();
		if (what === 'change') {
			this.version++;
			for (const {change} of this.pairs) change();
		}
		if (pair && what === 'answer') this.answer(pair);
		if (pair && what === 'ask') this.#ask(pair);
		if (pair && what === 'leave') {
			pair.link.unsubscribe();
			this.pairs = this.pairs.filter(other => other !== pair);
		}
		this.#listen();
	}

	#ask(pair: Pair): void {
		const id = `q${++this.#ids}`;
		this.asked.set(pair, [...(this.asked.get(pair) ?? []), id]);
		pair.ask(id);
	}

	/** Answers all that is asked, and what is asked because of that. */
	drain(): void {
		for (let rounds = 0; this.pairs.some(pair => this.answer(pair)); rounds++) {
			if (rounds > 1000) throw new Error('It never ends.');
			this.#time.now += 10_000;
			this.#listen();
		}
	}
}

const nameIn = (answer: Json | undefined): unknown =>
	listOf(objectOf(answer?.result).tools).map(objectOf)[0]?.name;

test('whatever comes in whatever order, it ends fresh, every request is answered once, and every client told [C12]', t => {
	fc.assert(
		fc.property(fc.array(event, {maxLength: 40}), events => {
			const server = new LateServer();
			server.join();
			for (const [what, at] of events) server.happen(what, at);
			server.join();
			server.happen('nothing', 0);
			server.drain();
			for (const pair of server.pairs) {
				const {ask, answer, client, told} = pair;
				const {length} = client.received;
				ask('last');
				t.is(nameIn(answer('last')), `v${server.version}`);
				t.is(client.received.length, length + 1);
				t.true(told() > 0);
				const ids = client.received.map(({id}) => id).filter(id => String(id).startsWith('q'));
				t.deepEqual(ids.sort(), (server.asked.get(pair) ?? []).sort());
			}
		}),
		{numRuns: 200},
	);
});
