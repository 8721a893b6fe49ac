import {spawn} from 'node:child_process';
import {once} from 'node:events';
import process from 'node:process';
import test from 'ava';
import {bridgeBin, fixture} from '../helpers/bridge.js';
import {need} from './tools.js';

test('a terminal gets the stderr of a wrapped server escaped [SEC-D20]', async t => {
	need('script', 'bsdutils');
	const words = 'clear\u001b[2J csi\u009b1m bidi\u202e end';
	const command = `"$NODE" "$BRIDGE" -- "$NODE" "$SERVER" "--words=$WORDS" --exit=3 </dev/null`;
	const env = {
		...process.env,
		NODE: process.execPath,
		BRIDGE: bridgeBin,
		SERVER: fixture('puppet'),
		WORDS: words,
	};
	const child = spawn('script', ['-qec', command, '/dev/null'], {env, stdio: ['ignore', 'pipe', 'inherit']});
	let out = '';
	child.stdout.setEncoding('utf8').on('data', (text: string) => {
		out += text;
	});
	await once(child, 'close');
	t.true(out.includes('clear\\x1b[2J csi\\x9b1m bidi\\u202e end'), out);
	for (const raw of ['\u001b[2J', '\u009b', '\u202e']) t.false(out.includes(raw), JSON.stringify(out));
});
