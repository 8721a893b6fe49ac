import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {bytesWritten, signal, startHurried, until} from '../../helpers/program.js';

test.serial(
	'a bridge that was suspended past a deadline passes on the answer that has come meanwhile [L6]',
	async t => {
		const timeoutMs = 2000;
		const {bridge, pid} = await startHurried(t, timeoutMs / 1000);
		const before = bytesWritten(pid);
		bridge.send({id: 1, method: 'hold'});
		// Once the server has the call, nothing but its answer can make it write.
		await bridge.request(2, 'echo');
		const echoed = bytesWritten(pid);
		t.true(echoed > before);
		signal(bridge.pid, 'SIGSTOP');
		signal(pid, 'SIGUSR2');
		await until(() => bytesWritten(pid) > echoed);
		// The time itself is what is tested: it has to run out while nobody looks.
		await sleep(timeoutMs);
		signal(bridge.pid, 'SIGCONT');
		t.like(await bridge.answer(1), {result: {was: 1}});
		t.is(await bridge.end(), 0);
	},
);
