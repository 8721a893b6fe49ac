import test from 'ava';
import {lossesOf, report} from './report.js';

const passed = {passed: 2, failures: []};
const failed = {passed: 1, failures: ['tools-list: no tools']};

test('counts a scenario that passes directly and fails through bridge as a loss', t => {
	const comparison = {name: 'x', direct: new Map([['tools', passed]]), through: new Map([['tools', failed]])};
	t.deepEqual(lossesOf(comparison), [{scenario: 'tools', failures: failed.failures}]);
	t.regex(
		report([comparison]),
		/x {2}of 1 scenarios 0, directly 1; checks 1, directly 2 {2}1 LOST\n\ntools\n\ttools-list: no tools\n\tin: x\n/,
	);
});

test('counts a scenario without a result as a loss', t => {
	const losses = lossesOf({name: 'x', direct: new Map([['tools', passed]]), through: new Map()});
	t.deepEqual(losses, [{scenario: 'tools', failures: ['no result']}]);
});

test('never counts a scenario that fails directly as a loss', t => {
	for (const through of [passed, failed]) {
		const outcomes = {direct: new Map([['tools', failed]]), through: new Map([['tools', through]])};
		t.deepEqual(lossesOf({name: 'x', ...outcomes}), []);
	}
});

test('notes a scenario that passes with fewer checks, and does not count it as a loss', t => {
	const fewer = {passed: 0, failures: []};
	const comparison = {name: 'x', direct: new Map([['tools', passed]]), through: new Map([['tools', fewer]])};
	t.deepEqual(lossesOf(comparison), []);
	t.regex(report([comparison]), /note: tools passes with 0 checks, directly with 2 \(1 of 1 runs\)/);
});
