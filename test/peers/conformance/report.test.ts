import test from 'ava';
import {lossesOf, report} from './report.js';

const passed = {passed: 2, failures: []};
const failed = {passed: 1, failures: ['tools-list: There are none.']};

test('A scenario that passes directly and fails through the bridge is a loss', t => {
	const comparison = {name: 'x', direct: new Map([['tools', passed]]), through: new Map([['tools', failed]])};
	t.deepEqual(lossesOf(comparison), [{scenario: 'tools', failures: failed.failures}]);
	t.regex(
		report([comparison]),
		/x {2}of 1 scenarios 0, directly 1; checks 1, directly 2 {2}1 LOST\n\ntools\n\ttools-list: There are none\.\n\tin: x\n/,
	);
});

test('A scenario that left no result is a loss', t => {
	const losses = lossesOf({name: 'x', direct: new Map([['tools', passed]]), through: new Map()});
	t.deepEqual(losses, [{scenario: 'tools', failures: ['It left no result.']}]);
});

test('A scenario that fails directly is no loss, whatever comes of it through the bridge', t => {
	for (const through of [passed, failed]) {
		const outcomes = {direct: new Map([['tools', failed]]), through: new Map([['tools', through]])};
		t.deepEqual(lossesOf({name: 'x', ...outcomes}), []);
	}
});

test('A scenario that passes with fewer checks is noted, and is no loss', t => {
	const fewer = {passed: 0, failures: []};
	const comparison = {name: 'x', direct: new Map([['tools', passed]]), through: new Map([['tools', fewer]])};
	t.deepEqual(lossesOf(comparison), []);
	t.regex(report([comparison]), /note: tools passes with 0 checks, directly with 2 \(1 of 1 runs\)/);
});
