import {mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {tempFolder} from '../helpers/temp-folder.js';
import {root} from './execute.js';
import {checkContents, checkLinks} from './tarball.js';

const good = {
	LICENSE: '',
	'README.md': '[a](docs/a.md) `[b](c)`',
	'CHANGELOG.md': '',
	'SECURITY.md': '',
	'docs/a.md': '',
	'dist/third-party-licenses.txt': '',
	'dist/chunks/a.js': '// lib/core/stage.ts\nexport {};\n',
};

function unpacked(t: ExecutionContext, files: {readonly [path: string]: string}): string {
	const folder = tempFolder(t);
	for (const [path, text] of Object.entries({...good, ...files})) {
		mkdirSync(dirname(join(folder, path)), {recursive: true});
		writeFileSync(join(folder, path), text);
	}
	return folder;
}

test('accepts a tarball with each module once', t => {
	t.is(checkContents(unpacked(t, {})), '7 files, 1 modules');
	t.is(checkLinks(unpacked(t, {})), '1 links');
});

test('rejects a source map, a picture, a duplicate module, a path of this machine and a broken link', t => {
	const rejects = (files: {readonly [path: string]: string}, message: RegExp): void => {
		t.throws(() => checkContents(unpacked(t, files)), {message});
	};
	rejects({'dist/chunks/a.js.map': ''}, /contains dist\/chunks\/a\.js\.map/);
	rejects({'docs/a.png': ''}, /contains docs\/a\.png/);
	rejects(
		{'dist/lib/b.js': '// lib/core/stage.ts\n'},
		/lib\/core\/stage\.ts is in .* and .*: each module must be bundled once/,
	);
	rejects({'dist/lib/b.js': `const at = '${root}lib';`}, /dist\/lib\/b\.js contains the path/);
	rejects({'dist/lib/b.js': '//# sourceMappingURL=b.js.map\n'}, /refers to a source map/);
	rejects({'dist/chunks/a.js': ''}, /does not name its modules/);
	const broken = unpacked(t, {'docs/a.md': '[b](missing.md)'});
	t.throws(() => checkLinks(broken), {message: /docs\/a\.md links to missing\.md/});
});
