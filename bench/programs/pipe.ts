// The limit: the cost of a Node process between client and server that only copies bytes. Usage: `node
// pipe.js [anything] -- SERVER ARGS…`.

import {spawn} from 'node:child_process';

const [command, ...rest] = process.argv.slice(process.argv.indexOf('--') + 1);
if (command === undefined) {
	process.stderr.write('usage: pipe.js -- SERVER ARGS…\n');
	process.exit(2);
}
const child = spawn(command, rest, {stdio: ['pipe', 'pipe', 'inherit']});
process.stdin.pipe(child.stdin);
child.stdout.pipe(process.stdout);
child.on('error', () => process.exit(2));
// 'close', not 'exit': the last bytes of the child may arrive after its exit.
child.on('close', code => process.exit(code ?? 1));
process.on('SIGTERM', () => child.kill());
