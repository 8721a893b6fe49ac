import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {bridgeBin, fixture, type Running, server} from '../../helpers/bridge.js';
import {errorOf, newMarker, pidOf, processesWith, start, startPuppet, until} from '../../helpers/program.js';

/** What a shell needs to hand its own stdin to a program in the background, which else gets /dev/null. */
const inBackground = (command: string): string => `exec 3<&0; ${command} <&3 & wait`;

const quoted = (words: readonly string[]): string => words.map(word => `'${word}'`).join(' ');

/** Starts bridge in front of `sh -c SCRIPT`, where NODE SERVER in the script is the puppet with its marker. */
async function startScript(
	t: ExecutionContext,
	script: (puppet: string) => string,
	...puppetArgs: string[]
): Promise<{bridge: Running; marker: string; pid: number}> {
	const marker = newMarker(t);
	const bridge = start(t, ['--', 'sh', '-c', script(quoted(server('puppet', ...puppetArgs, marker)))]);
	return {bridge, marker, pid: await pidOf(bridge)};
}

test.serial(
	'a server in the background of a shell ends with the input of bridge, and so does the shell [E4]',
	async t => {
		const {bridge, marker} = await startScript(t, inBackground);
		t.true(processesWith(marker).length >= 2);
		await bridge.end();
		t.deepEqual(processesWith(marker), []);
	},
);

test.serial(
	'a server behind a shell that ignores the end of input and signals does not survive [E4]',
	async t => {
		t.timeout(20_000);
		const {bridge, marker} = await startScript(t, inBackground, '--ignore-eof', '--ignore-signals');
		await bridge.end();
		t.deepEqual(processesWith(marker), []);
	},
);

test.serial(
	'when a wrapper is killed, the server that it started ends too, and calls are answered [E4]',
	async t => {
		const {bridge, marker, pid} = await startScript(t, inBackground, '--ignore-eof', '--ignore-signals');
		bridge.send({id: 1, method: 'hold'});
		const wrapper = processesWith(marker).find(other => other !== pid && other !== bridge.pid);
		process.kill(wrapper ?? 0, 'SIGKILL');
		t.like(errorOf(await bridge.answer(1)), {code: -31004, data: {signal: 'SIGKILL'}});
		t.deepEqual(processesWith(marker), []);
		t.is(await bridge.end(), 137);
	},
);

test.serial(
	'a child that ignores the end of input and SIGTERM is killed, and bridge ends with 0 [E4]',
	async t => {
		t.timeout(20_000);
		const {bridge, marker} = await startPuppet(t, ['--ignore-eof', '--ignore-signals']);
		t.is(await bridge.end(), 0);
		t.regex(bridge.stderr, /The end of input is ignored\./);
		t.regex(bridge.stderr, /SIGTERM is ignored\./);
		t.deepEqual(processesWith(marker), []);
	},
);

for (const kind of ['group', 'session'])
	test.serial(
		`a stubborn grandchild in the same ${kind === 'group' ? 'group' : 'or another session'} does not survive [E4]`,
		async t => {
			t.timeout(20_000);
			const {bridge, marker} = await startPuppet(t, [`--helper=${kind}`]);
			await until(() => processesWith(marker).length === 2);
			t.is(await bridge.end(), 0);
			t.deepEqual(processesWith(marker), []);
		},
	);

test.serial('a stubborn grandchild in another session does not outlive a child that dies [E4]', async t => {
	const {bridge, marker, pid} = await startPuppet(t, ['--helper=session']);
	await until(() => processesWith(marker).length === 2);
	process.kill(pid, 'SIGKILL');
	t.is(errorOf(await bridge.request(1, 'echo')).code, -31004);
	await until(() => processesWith(marker).length === 0);
	t.is(await bridge.end(), 137);
});

test.serial(
	'a grandchild with an environment of its own does not outlive a wrapper that is killed [E4]',
	async t => {
		const inOwnEnvironment = (puppet: string): string => inBackground(`env -i ${puppet}`);
		const {bridge, marker, pid} = await startScript(t, inOwnEnvironment, '--ignore-eof', '--ignore-signals');
		const wrapper = processesWith(marker).find(other => other !== pid && other !== bridge.pid);
		process.kill(wrapper ?? 0, 'SIGKILL');
		t.is(errorOf(await bridge.request(1, 'hold')).code, -31004);
		await bridge.end();
		t.deepEqual(processesWith(marker), []);
	},
);

test.serial(
	'a grandchild with an environment of its own does not outlive a wrapper that ends on SIGTERM [E4]',
	async t => {
		t.timeout(20_000);
		const leaving = (puppet: string): string => `trap 'exit 0' TERM; ${inBackground(`env -i ${puppet}`)}`;
		const {bridge, marker} = await startScript(t, leaving, '--ignore-eof', '--ignore-signals');
		await bridge.end();
		t.deepEqual(processesWith(marker), []);
	},
);

test.serial('when bridge is killed with -9, its child sees the end of input and ends [E5]', async t => {
	const {bridge, marker} = await startPuppet(t);
	bridge.child.kill('SIGKILL');
	await bridge.exited;
	await until(() => processesWith(marker).length === 0);
	t.pass();
});

test.serial('a child that ignores the end of input is ended by the next bridge that starts [E5]', async t => {
	t.timeout(20_000);
	const {bridge, marker} = await startPuppet(t, ['--ignore-eof', '--ignore-signals', '--helper=session']);
	await until(() => processesWith(marker).length === 2);
	bridge.child.kill('SIGKILL');
	await bridge.exited;
	const next = await startPuppet(t);
	t.is(await next.bridge.end(), 0);
	await until(() => processesWith(marker).length === 0);
});

test.serial('a bridge that starts leaves the children of a living one alone [E5]', async t => {
	const one = await startPuppet(t);
	const other = await startPuppet(t);
	t.is(await other.bridge.end(), 0);
	t.like(await one.bridge.request(1, 'pid'), {result: {pid: one.pid}});
	t.is(await one.bridge.end(), 0);
});

test.serial('when the client vanishes, bridge and all that it started end [E5]', async t => {
	t.timeout(20_000);
	const marker = newMarker(t);
	const command = [
		process.execPath,
		bridgeBin,
		'--',
		...server('puppet', '--ignore-eof', '--helper=session', marker),
	];
	const env = {...process.env, MARKER: marker};
	const client = spawn(process.execPath, [fixture('mortal-client'), ...command], {stdio: 'ignore', env});
	const [, signal] = await once(client, 'exit');
	t.is(signal, 'SIGKILL');
	// The title of bridge has no marker.
	await until(() => processesWith(marker, 'environ').length === 0);
});

test.serial(
	'when the client vanishes in the middle of a flood, bridge and the flooding child end [E5]',
	async t => {
		t.timeout(20_000);
		const marker = newMarker(t);
		const command = [process.execPath, bridgeBin, '--', ...server('flood', String(2 ** 40), '10000', marker)];
		const env = {...process.env, MARKER: marker};
		const client = spawn(process.execPath, [fixture('mortal-client'), ...command], {stdio: 'ignore', env});
		const [, signal] = await once(client, 'exit');
		t.is(signal, 'SIGKILL');
		// The title of bridge has no marker.
		await until(() => processesWith(marker, 'environ').length === 0);
	},
);
