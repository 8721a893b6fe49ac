import test from 'ava';
import {lossesBetween, lossesOf, upstreamFeaturesOf} from '../../lib/protocol/features.js';
import {versions} from '../../lib/protocol/version.js';

const nothing = upstreamFeaturesOf({}, undefined);
const all = upstreamFeaturesOf({capabilities: {tasks: {}}}, [{outputSchema: {type: 'array'}}, 5]);

test('reports no losses between equal versions', t => {
	for (const version of versions) t.deepEqual(lossesBetween(version, version, all), []);
});

test('reports the features that an older client does not support', t => {
	t.deepEqual(lossesBetween('2025-06-18', '2025-11-25', nothing), [
		'elicitation by URL is rejected',
		'multi-select fields in forms become one checkbox per option',
		'tools in sampling are rejected',
	]);
	t.true(
		lossesBetween('2024-11-05', '2025-03-26', nothing).includes('audio arrives as an embedded resource'),
	);
});

test('reports only losses of features that the server has', t => {
	t.true(lossesBetween('2025-06-18', '2025-11-25', all).includes('tasks are polled by bridge'));
	t.true(
		lossesBetween('2025-03-26', '2026-07-28', all).includes('structured output arrives as additional text'),
	);
	t.true(
		lossesBetween('2025-11-25', '2026-07-28', all).includes(
			'output that is not an object is wrapped in an object',
		),
	);
	t.deepEqual(lossesBetween('2025-11-25', '2026-07-28', nothing), []);
});

test('reports the losses of a client that is newer than the server', t => {
	t.deepEqual(lossesBetween('2025-11-25', '2025-06-18', all), []);
	t.deepEqual(lossesBetween('2026-07-28', '2025-11-25', all), ['tasks are polled by bridge']);
	t.deepEqual(lossesBetween('2026-07-28', '2025-11-25', nothing), []);
});

test('lists all client versions in ascending order', t => {
	t.deepEqual(
		lossesOf('2025-11-25', nothing).map(([client]) => client),
		[...versions],
	);
});
