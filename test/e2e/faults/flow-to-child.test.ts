import {createHash} from 'node:crypto';
import {once} from 'node:events';
import process from 'node:process';
import test from 'ava';
import {server} from '../../helpers/bridge.js';
import {bytesRead, newMarker, peakMiB, startPuppet, startReady, untilStill} from '../../helpers/program.js';

const GB = 1e9;
const MAX_MIB = 150;

test.serial('sends 1 GB to a child that pauses reading without loss and with flat memory [F2]', async t => {
	t.timeout(100_000);
	const bridge = await startReady(t, ['--', ...server('late-reader', '--ready', newMarker(t))]);
	const {params} = await bridge.message(({method}) => method === 'started');
	const message = Buffer.from(
		`{"jsonrpc":"2.0","method":"notifications/message","params":"${'x'.repeat(9_900)}"}\n`,
	);
	const block = Buffer.concat(Array.from({length: 100}, () => message));
	const hash = createHash('sha256');
	let count = 0;
	const sendAll = async (): Promise<void> => {
		for (let sent = 0; sent < GB; sent += block.length) {
			count += 100;
			hash.update(block);
			if (!bridge.stdin.write(block)) await once(bridge.stdin, 'drain');
		}
	};
	const sending = sendAll();
	await untilStill(() => bytesRead(bridge.pid));
	t.true(bytesRead(bridge.pid) < 64 * 2 ** 20, 'bridge kept reading although its child does not');
	process.kill((params as {pid: number}).pid, 'SIGUSR2');
	await sending;
	t.true(peakMiB(bridge.pid) < MAX_MIB, `${peakMiB(bridge.pid)} MiB`);
	t.log(`${Math.round(peakMiB(bridge.pid))} MiB`);
	t.is(await bridge.end(), 0);
	t.true(bridge.stderr.includes(`sum ${count} ${hash.digest('hex')}`));
});

test.serial(
	'stops reading 10,000 calls for a frozen child, and delivers all results when it resumes [F2]',
	async t => {
		t.timeout(100_000);
		const {bridge, pid} = await startPuppet(t, [], ['--timeout', '0']);
		process.kill(pid, 'SIGSTOP');
		const text = 'x'.repeat(5_000);
		for (let id = 0; id < 10_000; id++) bridge.send({id, method: 'echo', params: {id, text}});
		await untilStill(() => bytesRead(bridge.pid));
		t.true(bytesRead(bridge.pid) < 32 * 2 ** 20, 'bridge kept reading although its child does not');
		process.kill(pid, 'SIGCONT');
		const lines = await bridge.hasLines(10_001);
		t.is(new Set(lines.map(line => /"id":(\d+)/.exec(line)?.[1])).size, 10_001);
		t.true(peakMiB(bridge.pid) < MAX_MIB, `${peakMiB(bridge.pid)} MiB`);
		t.is(await bridge.end(), 0);
	},
);
