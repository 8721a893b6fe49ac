import test from 'ava';
import {createLog} from '../../lib/log.js';
import {child} from '../../lib/transports/child.js';
import {revived} from '../../lib/transports/revived.js';

test('A server that is closed has ended when close is done', async t => {
	const program =
		'process.stdin.on("data", () => console.log(JSON.stringify({jsonrpc: "2.0", method: "hello"})))';
	const started = child({
		name: 'server',
		command: process.execPath,
		args: ['-e', program],
		onStderr: () => {},
	});
	const server = revived({
		name: 'server',
		log: createLog({level: 'error', write: () => {}, isPretty: false}),
		open: () => started,
		ownId: () => 'own',
		onRevived: () => t.fail('it is not started again'),
		onLoss: () => t.fail('it was not lost'),
	});
	server.incoming.subscribe();
	await server.close();
	t.like(await started.exited, {code: 0});
});
