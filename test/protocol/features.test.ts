import test from 'ava';
import {lossesBetween, lossesOf, upstreamFeaturesOf} from '../../lib/protocol/features.js';
import {versions} from '../../lib/protocol/version.js';

const nothing = upstreamFeaturesOf({}, undefined);
const all = upstreamFeaturesOf({capabilities: {tasks: {}}}, [{outputSchema: {type: 'array'}}, 5]);

test('nothing is lost between equal versions', t => {
	for (const version of versions) t.deepEqual(lossesBetween(version, version, all), []);
});

test('an older client loses what was brought since', t => {
	t.deepEqual(lossesBetween('2025-06-18', '2025-11-25', nothing), [
		'elicitation by URL is refused',
		'choices of several in forms become a box for each option',
		'tools in sampling are refused',
	]);
	t.true(
		lossesBetween('2024-11-05', '2025-03-26', nothing).includes('audio arrives as an embedded resource'),
	);
});

test('what a server is known to have or not to have decides', t => {
	t.true(lossesBetween('2025-06-18', '2025-11-25', all).includes('tasks are waited for here'));
	t.true(
		lossesBetween('2025-03-26', '2026-07-28', all).includes('structured output arrives as text beside it'),
	);
	t.true(
		lossesBetween('2025-11-25', '2026-07-28', all).includes(
			'output that is no object is the only member of one',
		),
	);
	t.deepEqual(lossesBetween('2025-11-25', '2026-07-28', nothing), []);
});

test('a newer client loses what an older server answers otherwise', t => {
	t.deepEqual(lossesBetween('2025-11-25', '2025-06-18', all), []);
	t.deepEqual(lossesBetween('2026-07-28', '2025-11-25', all), ['tasks are waited for here']);
	t.deepEqual(lossesBetween('2026-07-28', '2025-11-25', nothing), []);
});

test('all client versions are told of, the oldest first', t => {
	t.deepEqual(
		lossesOf('2025-11-25', nothing).map(([client]) => client),
		[...versions],
	);
});
