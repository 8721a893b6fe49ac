import test, {type ExecutionContext} from 'ava';
import fc from 'fast-check';
import {type Json, shareWithClients, type TestClient} from './support.js';

/** The next event: a client sends or cancels a request, or the upstream sends progress or a response. */
type Move =
	| {
			readonly kind: 'request';
			readonly client: number;
			readonly id: string;
			readonly token: string | undefined;
	  }
	| {readonly kind: 'progress' | 'response' | 'cancel'; readonly at: number};

const id = fc.constantFrom('0', '1', '1.0', '"1"', '"b1"', '-1', '9007199254740993', '"ü"', '1e2');
const token = fc.option(fc.constantFrom('0', '1', '1.50', '"0"', '"b1"', '"bridge-initialize"'), {
	nil: undefined,
});
const move: fc.Arbitrary<Move> = fc.oneof(
	{weight: 3, arbitrary: fc.record({kind: fc.constant('request' as const), client: fc.nat(2), id, token})},
	{
		weight: 4,
		arbitrary: fc.record({kind: fc.constantFrom('progress' as const, 'response' as const), at: fc.nat()}),
	},
	{weight: 1, arbitrary: fc.record({kind: fc.constant('cancel' as const), at: fc.nat()})},
);

type Call = {
	readonly client: TestClient;
	readonly id: string;
	readonly token: string | undefined;
	readonly serial: number;
	/** The request as the upstream received it. */
	readonly forwarded: Json;
};

/**
 * Applies all moves, then responds to the remaining requests. Returns what each client should have received.
 */
function play(
	shared: ReturnType<typeof shareWithClients>,
	clients: readonly TestClient[],
	moves: readonly Move[],
) {
	const expected = new Map(clients.map(client => [client, [] as string[]]));
	const pending: Call[] = [];
	const expect = ({client}: Call, text: string): void => void expected.get(client)?.push(text);
	const take = (at: number): Call | undefined => pending.splice(at % Math.max(1, pending.length), 1)[0];
	const acts = {
		request({client: at, id, token}: Move & {kind: 'request'}) {
			const client = clients[at] as TestClient;
			if (
				pending.some(call => call.client === client && Number(JSON.parse(call.id)) === Number(JSON.parse(id)))
			)
				return;
			const serial = shared.server().received.length;
			const meta = token === undefined ? '' : `,"_meta":{"progressToken":${token}}`;
			client.sendText(`{"jsonrpc":"2.0","id":${id},"method":"x","params":{"serial":${serial}${meta}}}`);
			pending.push({client, id, token, serial, forwarded: shared.server().received.at(-1) as Json});
		},
		progress({at}: Move & {kind: 'progress' | 'response' | 'cancel'}) {
			const call = pending[at % Math.max(1, pending.length)];
			if (call?.token === undefined) return;
			const {progressToken} = (call.forwarded.params as {_meta: {progressToken: unknown}})._meta;
			const progress = (token: unknown): string =>
				`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"serial":${call.serial}}}`;
			shared.server().sendText(progress(JSON.stringify(progressToken)));
			expect(call, progress(call.token));
		},
		response({at}: Move & {kind: 'progress' | 'response' | 'cancel'}) {
			const call = take(at);
			if (!call) return;
			const response = (id: unknown): string =>
				`{"jsonrpc":"2.0","id":${id},"result":{"serial":${call.serial}}}`;
			shared.server().sendText(response(call.forwarded.id));
			expect(call, response(call.id));
		},
		/** The upstream may still respond. */
		cancel({at}: Move & {kind: 'progress' | 'response' | 'cancel'}) {
			const call = pending[at % Math.max(1, pending.length)];
			if (!call) return;
			call.client.sendText(
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${call.id}}}`,
			);
		},
	};
	for (const move of moves) {
		if (move.kind === 'request') acts.request(move);
		else acts[move.kind](move);
	}
	while (pending.length > 0) acts.response({kind: 'response', at: 0});
	return expected;
}

/** Each client receives all of its own messages and no others. */
function checkRouting(t: ExecutionContext, moves: readonly Move[]): void {
	const shared = shareWithClients(t, {}, {}, {});
	const clients = [shared.a, shared.b, shared.c];
	for (const [client, texts] of play(shared, clients, moves)) t.deepEqual(client.texts, texts);
}

test('routes every response and all progress to its own client, for any interleaving of ids and tokens [A11] [P4]', t => {
	fc.assert(
		fc.property(fc.array(move, {maxLength: 60}), moves => checkRouting(t, moves)),
		{numRuns: 150},
	);
});
