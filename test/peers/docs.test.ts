import test from 'ava';
import {blocksOf, pages, readPage} from '../docs/blocks.js';
import {runPage} from '../docs/run-page.js';

/*
 * Pages with blocks that need real servers and clients. All blocks of such a page run, since later ones
 * depend on earlier ones.
 */

const needPeers = pages.filter(file => blocksOf(file, readPage(file)).some(block => block.needsPeers));

for (const file of needPeers)
	test.serial(`runs the blocks of ${file} with real servers and clients`, async t => {
		t.timeout(600_000);
		const {errors, run, parsed, skipped} = await runPage({file, text: readPage(file), hasPeers: true});
		t.log(`${run.length} run, ${parsed.length} parsed, ${skipped.length} not run`);
		for (const line of skipped) t.log(line);
		t.is(errors.join('\n\n'), '');
	});
