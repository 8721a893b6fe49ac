import {setTimeout as sleep} from 'node:timers/promises';
import test from 'ava';
import {bytesWritten, signal, startHurried, until} from '../../helpers/program.js';

test.serial('delivers a response that arrived while bridge was suspended past its deadline [L6]', async t => {
	const timeoutMs = 2000;
	const {bridge, pid} = await startHurried(t, timeoutMs / 1000);
	const before = bytesWritten(pid);
	bridge.send({id: 1, method: 'hold'});
	// Once the server has received the call, only the response makes it write.
	await bridge.request(2, 'echo');
	const afterEcho = bytesWritten(pid);
	t.true(afterEcho > before);
	signal(bridge.pid, 'SIGSTOP');
	signal(pid, 'SIGUSR2');
	await until(() => bytesWritten(pid) > afterEcho);
	// The real deadline has to pass while bridge is suspended.
	await sleep(timeoutMs);
	signal(bridge.pid, 'SIGCONT');
	t.like(await bridge.answer(1), {result: {was: 1}});
	t.is(await bridge.end(), 0);
});
