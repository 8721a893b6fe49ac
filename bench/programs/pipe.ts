// The limit: what any Node process between client and server costs when it only moves bytes.
//   node pipe.js [anything] -- SERVER ARGS…

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
// 'close', not 'exit': the child's last bytes may still be on their way when it has ended.
child.on('close', code => process.exit(code ?? 1));
process.on('SIGTERM', () => child.kill());
