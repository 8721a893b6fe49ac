import test from 'ava';
import {RecentStderr} from '../../../lib/serve/codex/recent-stderr.js';

test('keeps the stderr output of the last ten seconds, up to 500 characters [S-D11]', t => {
	let now = 0;
	const recent = new RecentStderr(() => now);
	recent.add(Buffer.from('a warning of the start\n'));
	now = 9000;
	recent.add(Buffer.from('\u001b[1;31mpanic\u001b[0m\u0007 password=hunter2hunter2\n'));
	t.is(recent.text, 'a warning of the start\npanic\\x07 password=[redacted]');
	now = 15_000;
	t.is(recent.text, 'panic\\x07 password=[redacted]');
	now = 20_000;
	t.is(recent.text, '');
	for (let at = 0; at < 10_000; at++) recent.add(Buffer.from('x'));
	t.is(recent.text, `…${'x'.repeat(500)}`);
});
