import test from 'ava';
import {sourceIn} from '../../lib/run/source.js';

for (const [command, expected] of [
	['wix.a()', 'wix.a()'],
	['```python\nwix.a()\n```', 'wix.a()'],
	['```\nwix.a()\n\nx\n```', 'wix.a()\n\nx'],
	['\n  ```py\n  a\n    b\n  ```  \n', 'a\n  b'],
	['````python\n"""```"""\n````', '"""```"""'],
	['~~~\na\n~~~', 'a'],
	['`wix.a()`', 'wix.a()'],
	['``wix.a()``', 'wix.a()'],
	['```wix.a()```', 'wix.a()'],
	['```python\n```', ''],
	['    a\n    b', 'a\nb'],
	['\ta\n\t\tb', 'a\n\tb'],
	['  a\nb', '  a\nb'],
	['\n\n  if x:\n\n    y\n', 'if x:\n\n  y'],
	['a\r\nb\rc', 'a\nb\nc'],
	['\uFEFFa', 'a'],
	['x = "`"', 'x = "`"'],
	['', ''],
] as const) {
	test(`takes ${JSON.stringify(command)} for ${JSON.stringify(expected)}`, t => {
		t.is(sourceIn(command), expected);
	});
}
