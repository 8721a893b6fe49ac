import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import test, {type ExecutionContext} from 'ava';
import {bridgeBin, fixture, type Running, server} from '../../helpers/bridge.js';
import {errorOf, newMarker, pidOf, processesWith, start, startPuppet, until} from '../../helpers/program.js';

/** Passes stdin of the shell to a background command, which would otherwise read /dev/null. */
const inBackground = (command: string): string => `exec 3<&0; ${command} <&3 & wait`;

const quoted = (words: readonly string[]): string => words.map(word => `'${word}'`).join(' ');

/** Starts bridge with `sh -c SCRIPT`. The script gets the command line of a puppet with a marker. */
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
	'a server in the background of a shell exits with the input of bridge, and so does the shell [E4]',
	async t => {
		const {bridge, marker} = await startScript(t, inBackground);
		t.true(processesWith(marker).length >= 2);
		await bridge.end();
		t.deepEqual(processesWith(marker), []);
	},
);

test.serial('kills a server behind a shell that ignores the end of input and signals [E4]', async t => {
	t.timeout(20_000);
	const {bridge, marker} = await startScript(t, inBackground, '--ignore-eof', '--ignore-signals');
	await bridge.end();
	t.deepEqual(processesWith(marker), []);
});

test.serial('stops the server of a killed wrapper and fails pending calls [E4]', async t => {
	const {bridge, marker, pid} = await startScript(t, inBackground, '--ignore-eof', '--ignore-signals');
	bridge.send({id: 1, method: 'hold'});
	const wrapper = processesWith(marker).find(other => other !== pid && other !== bridge.pid);
	process.kill(wrapper ?? 0, 'SIGKILL');
	t.like(errorOf(await bridge.answer(1)), {code: -31004, data: {signal: 'SIGKILL'}});
	t.deepEqual(processesWith(marker), []);
	t.is(await bridge.end(), 137);
});

test.serial('kills a child that ignores the end of input and SIGTERM, and exits with 0 [E4]', async t => {
	t.timeout(20_000);
	const {bridge, marker} = await startPuppet(t, ['--ignore-eof', '--ignore-signals']);
	t.is(await bridge.end(), 0);
	t.regex(bridge.stderr, /The end of input is ignored\./);
	t.regex(bridge.stderr, /SIGTERM is ignored\./);
	t.deepEqual(processesWith(marker), []);
});

for (const kind of ['group', 'session'])
	test.serial(
		`kills a grandchild in ${kind === 'group' ? 'the same group' : 'another session'} that ignores signals [E4]`,
		async t => {
			t.timeout(20_000);
			const {bridge, marker} = await startPuppet(t, [`--helper=${kind}`]);
			await until(() => processesWith(marker).length === 2);
			t.is(await bridge.end(), 0);
			t.deepEqual(processesWith(marker), []);
		},
	);

test.serial('kills a grandchild in another session when the child dies [E4]', async t => {
	const {bridge, marker, pid} = await startPuppet(t, ['--helper=session']);
	await until(() => processesWith(marker).length === 2);
	process.kill(pid, 'SIGKILL');
	t.is(errorOf(await bridge.request(1, 'echo')).code, -31004);
	await until(() => processesWith(marker).length === 0);
	t.is(await bridge.end(), 137);
});

test.serial('kills a grandchild with a separate environment when its wrapper is killed [E4]', async t => {
	const inEmptyEnvironment = (puppet: string): string => inBackground(`env -i ${puppet}`);
	const {bridge, marker, pid} = await startScript(t, inEmptyEnvironment, '--ignore-eof', '--ignore-signals');
	const wrapper = processesWith(marker).find(other => other !== pid && other !== bridge.pid);
	process.kill(wrapper ?? 0, 'SIGKILL');
	t.is(errorOf(await bridge.request(1, 'hold')).code, -31004);
	await bridge.end();
	t.deepEqual(processesWith(marker), []);
});

test.serial(
	'kills a grandchild with a separate environment when its wrapper exits on SIGTERM [E4]',
	async t => {
		t.timeout(20_000);
		const exitOnTerm = (puppet: string): string => `trap 'exit 0' TERM; ${inBackground(`env -i ${puppet}`)}`;
		const {bridge, marker} = await startScript(t, exitOnTerm, '--ignore-eof', '--ignore-signals');
		await bridge.end();
		t.deepEqual(processesWith(marker), []);
	},
);

test.serial('the child exits at the end of its input when bridge is killed with SIGKILL [E5]', async t => {
	const {bridge, marker} = await startPuppet(t);
	bridge.child.kill('SIGKILL');
	await bridge.exited;
	await until(() => processesWith(marker).length === 0);
	t.pass();
});

test.serial('the next bridge stops an orphaned child that ignores the end of input [E5]', async t => {
	t.timeout(20_000);
	const {bridge, marker} = await startPuppet(t, ['--ignore-eof', '--ignore-signals', '--helper=session']);
	await until(() => processesWith(marker).length === 2);
	bridge.child.kill('SIGKILL');
	await bridge.exited;
	const next = await startPuppet(t);
	t.is(await next.bridge.end(), 0);
	await until(() => processesWith(marker).length === 0);
});

test.serial('does not stop children of another running bridge [E5]', async t => {
	const one = await startPuppet(t);
	const other = await startPuppet(t);
	t.is(await other.bridge.end(), 0);
	t.like(await one.bridge.request(1, 'pid'), {result: {pid: one.pid}});
	t.is(await one.bridge.end(), 0);
});

test.serial('exits with all its processes when the client is killed [E5]', async t => {
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
	// The command line of bridge is its title, without the marker.
	await until(() => processesWith(marker, 'environ').length === 0);
});

test.serial('exits with a flooding child when the client is killed [E5]', async t => {
	t.timeout(20_000);
	const marker = newMarker(t);
	const command = [process.execPath, bridgeBin, '--', ...server('flood', String(2 ** 40), '10000', marker)];
	const env = {...process.env, MARKER: marker};
	const client = spawn(process.execPath, [fixture('mortal-client'), ...command], {stdio: 'ignore', env});
	const [, signal] = await once(client, 'exit');
	t.is(signal, 'SIGKILL');
	// The command line of bridge is its title, without the marker.
	await until(() => processesWith(marker, 'environ').length === 0);
});
