import test from 'ava';
import {type Answer, type ClientSession, messageIn, program, shareGateway} from '../../helpers/gateway.js';
import {until} from '../../helpers/program.js';

const gateway = shareGateway({
	servers: {own: program('puppet'), shared: {...program('puppet'), shared: true}},
});

/** Pairs of ids that most parsers read as the same number. */
const twins = [
	['9007199254740992', '9007199254740993'],
	['77', '77.0'],
	['1', '1e0'],
] as const;

const accepted = {JSON: 'application/json', SSE: 'text/event-stream'} as const;
const services = ['own', 'shared'] as const;

const postText = ({headers, service}: ClientSession, body: string, accept: string): Promise<Answer> =>
	gateway().fetch(`/mcp/${service}`, {
		method: 'POST',
		headers: {...headers, accept, 'content-type': 'application/json'},
		body,
	});

const request = (id: string, method: string, params = '{}'): string =>
	`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

/** The ids of all messages in a reply, as they are written. */
const idsIn = ({text}: Answer): unknown[] => [...text.matchAll(/"id":([^,}]+)/g)].map(([, id]) => id);

const isHeld = (session: ClientSession, count: number) => async (): Promise<boolean> =>
	((await session.request('look', 'held')).result as {count: number}).count === count;

for (const service of services)
	for (const [kind, accept] of Object.entries(accepted))
		for (const [first, second] of twins)
			test.serial(
				`returns to ${first} and ${second}, pending in one session, their own responses: ${service} child, ${kind} [SEC-D9]`,
				async t => {
					const session = await gateway().open(service);
					const held = postText(session, request(first, 'hold'), accept);
					await until(isHeld(session, 1));
					const other = await postText(session, request(second, 'echo', '{"which":2}'), accept);
					t.deepEqual(idsIn(other), [second]);
					t.like(messageIn(other), {result: {which: 2}});
					await session.request('go', 'release');
					const released = await held;
					t.deepEqual(idsIn(released), [first]);
					t.true('was' in (messageIn(released).result as object));
				},
			);

for (const service of services)
	test.serial(
		`cancels only the request whose id is written as in the cancellation: ${service} child [SEC-D9]`,
		async t => {
			const session = await gateway().open(service);
			const [first, second] = ['9007199254740992', '9007199254740993'];
			const posts = [first, second].map(id => postText(session, request(id, 'hold'), accepted.JSON));
			await until(isHeld(session, 2));
			const cancel = (id: string): string =>
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${id}}}`;
			t.is((await postText(session, cancel('9007199254740993.0'), accepted.JSON)).status, 202);
			t.is((await postText(session, cancel(second), accepted.JSON)).status, 202);
			const cancelled = await (posts[1] as Promise<Answer>);
			t.deepEqual(idsIn(cancelled), [second]);
			t.like(messageIn(cancelled), {error: {code: -31_006}});
			await session.request('go', 'release');
			const uncancelled = await (posts[0] as Promise<Answer>);
			t.deepEqual(idsIn(uncancelled), [first]);
			t.true('result' in messageIn(uncancelled));
		},
	);

for (const service of services)
	for (const [first, second] of twins)
		test.serial(
			`sends progress under the tokens ${first} and ${second} to the request of each: ${service} child [SEC-D9]`,
			async t => {
				const session = await gateway().open(service);
				const posts = [first, second].map((token, at) =>
					postText(
						session,
						request(`${at}`, 'hold', `{"at":${at},"_meta":{"progressToken":${token}}}`),
						accepted.SSE,
					),
				);
				await until(isHeld(session, 2));
				const {lines} = (await session.request('heard', 'heard')).result as {lines: string[]};
				const received = lines
					.map(line => JSON.parse(line))
					.filter(({params}) => params?._meta?.progressToken);
				const notices = received.slice(-2).map(({params}) =>
					JSON.stringify({
						jsonrpc: '2.0',
						method: 'notifications/progress',
						params: {progressToken: params._meta.progressToken, progress: params.at},
					}),
				);
				const base64 = Buffer.from(`${notices.join('\n')}\n`).toString('base64');
				await session.post({method: 'raw', params: {base64}});
				await session.request('go', 'release');
				for (const [at, token] of [first, second].entries()) {
					const {text} = await (posts[at] as Promise<Answer>);
					t.true(text.includes(`"progressToken":${token},"progress":${at}}`), text);
					t.is(text.match(/progressToken/g)?.length, 1, text);
				}
			},
		);
