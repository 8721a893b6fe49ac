import test from 'ava';
import {type ClientSession, program, type RunningGateway, startGateway} from '../helpers/gateway.js';

const CLIENTS = 50;
const CALLS = 200;
const AT_ONCE = 4;

/** Echoes what it is asked, so that an answer tells whose it is. */
const echo = {...program('puppet'), shared: true};

/** The calls of one client, a few at a time, with ids that all clients use. Resolves to how many came back wrong. */
async function callAll(session: ClientSession, client: number): Promise<number> {
	let wrong = 0;
	const ids = Array.from({length: CALLS}, (_, id) => id);
	const work = async (): Promise<void> => {
		for (let id = ids.shift(); id !== undefined; id = ids.shift()) {
			const payload = `${client}:${id}`;
			const answer = await session.request(id, 'echo', {payload});
			if (answer.id !== id || !JSON.stringify(answer.result).includes(`"${payload}"`)) wrong++;
		}
	};
	await Promise.all(Array.from({length: AT_ONCE}, work));
	return wrong;
}

const children = async (gateway: RunningGateway): Promise<string | undefined> =>
	/^bridge_children (\d+)$/m.exec((await gateway.fetch('/metrics')).text)?.[1];

test('A11 50 clients × 200 calls with the same ids through one shared child: every answer to its own caller', async t => {
	const gateway = await startGateway(t, {servers: {echo}});
	const sessions = await Promise.all(Array.from({length: CLIENTS}, () => gateway.open('echo')));
	const wrong = await Promise.all(sessions.map(callAll));
	t.is(
		wrong.reduce((sum, count) => sum + count, 0),
		0,
	);
	t.is(await children(gateway), '1');
});
