import test, {type ExecutionContext} from 'ava';
import fc from 'fast-check';
import {type Guest, type Json, sharing} from './support.js';

/** What happens next: a client asks, or the server tells of the progress of something, or answers it. */
type Move =
	| {readonly kind: 'ask'; readonly client: number; readonly id: string; readonly token: string | undefined}
	| {readonly kind: 'progress' | 'answer' | 'cancel'; readonly at: number};

const id = fc.constantFrom('0', '1', '1.0', '"1"', '"b1"', '-1', '9007199254740993', '"ü"', '1e2');
const token = fc.option(fc.constantFrom('0', '1', '1.50', '"0"', '"b1"', '"bridge-initialize"'), {
	nil: undefined,
});
const move: fc.Arbitrary<Move> = fc.oneof(
	{weight: 3, arbitrary: fc.record({kind: fc.constant('ask' as const), client: fc.nat(2), id, token})},
	{
		weight: 4,
		arbitrary: fc.record({kind: fc.constantFrom('progress' as const, 'answer' as const), at: fc.nat()}),
	},
	{weight: 1, arbitrary: fc.record({kind: fc.constant('cancel' as const), at: fc.nat()})},
);

type Call = {
	readonly guest: Guest;
	readonly id: string;
	readonly token: string | undefined;
	readonly serial: number;
	/** As the server knows it. */
	readonly told: Json;
};

/** Plays all moves, and then answers what is left. Returns what each client should have heard. */
function play(shared: ReturnType<typeof sharing>, guests: readonly Guest[], moves: readonly Move[]) {
	const expected = new Map(guests.map(guest => [guest, [] as string[]]));
	const open: Call[] = [];
	const expect = ({guest}: Call, text: string): void => void expected.get(guest)?.push(text);
	const take = (at: number): Call | undefined => open.splice(at % Math.max(1, open.length), 1)[0];
	const acts = {
		ask({client, id, token}: Move & {kind: 'ask'}) {
			const guest = guests[client] as Guest;
			if (open.some(call => call.guest === guest && Number(JSON.parse(call.id)) === Number(JSON.parse(id))))
				return;
			const serial = shared.server().received.length;
			const meta = token === undefined ? '' : `,"_meta":{"progressToken":${token}}`;
			guest.sayText(`{"jsonrpc":"2.0","id":${id},"method":"x","params":{"serial":${serial}${meta}}}`);
			open.push({guest, id, token, serial, told: shared.server().received.at(-1) as Json});
		},
		progress({at}: Move & {kind: 'progress' | 'answer' | 'cancel'}) {
			const call = open[at % Math.max(1, open.length)];
			if (call?.token === undefined) return;
			const {progressToken} = (call.told.params as {_meta: {progressToken: unknown}})._meta;
			const progress = (token: unknown): string =>
				`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"serial":${call.serial}}}`;
			shared.server().sendText(progress(JSON.stringify(progressToken)));
			expect(call, progress(call.token));
		},
		answer({at}: Move & {kind: 'progress' | 'answer' | 'cancel'}) {
			const call = take(at);
			if (!call) return;
			const answer = (id: unknown): string =>
				`{"jsonrpc":"2.0","id":${id},"result":{"serial":${call.serial}}}`;
			shared.server().sendText(answer(call.told.id));
			expect(call, answer(call.id));
		},
		/** Some servers answer all the same. */
		cancel({at}: Move & {kind: 'progress' | 'answer' | 'cancel'}) {
			const call = open[at % Math.max(1, open.length)];
			if (!call) return;
			call.guest.sayText(
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${call.id}}}`,
			);
		},
	};
	for (const one of moves) {
		if (one.kind === 'ask') acts.ask(one);
		else acts[one.kind](one);
	}
	while (open.length > 0) acts.answer({kind: 'answer', at: 0});
	return expected;
}

/** Whatever the order, everybody hears all that is theirs and nothing else. */
function holds(t: ExecutionContext, moves: readonly Move[]): void {
	const shared = sharing(t, {}, {}, {});
	const guests = [shared.a, shared.b, shared.c];
	for (const [guest, texts] of play(shared, guests, moves)) t.deepEqual(guest.texts, texts);
}

test('any interleaving of clients, ids and tokens gets every answer and all progress to its own caller [A11] [P4]', t => {
	fc.assert(
		fc.property(fc.array(move, {maxLength: 60}), moves => holds(t, moves)),
		{numRuns: 150},
	);
});
