import test from 'ava';
import {
	clientVersionFor,
	handshakeVersions,
	isHandshakeVersion,
	isVersion,
	nextVersionToTry,
	resolveVersion,
	versions,
} from '../../lib/protocol/version.js';

test('versions are in order', t => {
	t.deepEqual(versions.toSorted(), [...versions]);
});

test('the modern version is a version, and has no handshake', t => {
	t.true(isVersion('2026-07-28'));
	t.false(isHandshakeVersion('2026-07-28'));
	t.true(handshakeVersions.every(version => isVersion(version) && isHandshakeVersion(version)));
	for (const other of ['2024-10-07', '', undefined, 5]) t.false(isVersion(other));
});

test('an upstream speaks what it answers', t => {
	for (const version of handshakeVersions) t.deepEqual(resolveVersion(version), {version});
	t.deepEqual(resolveVersion('2024-10-07'), {version: '2024-11-05'});
});

test('an answer that is no version gets the smallest vocabulary', t => {
	for (const answered of [undefined, null, 5, {}, '']) {
		t.is(resolveVersion(answered)?.version, '2024-11-05');
		t.truthy(resolveVersion(answered)?.warning);
	}
});

test('an unknown version that is not a date of the modern era is taken for the newest handshake [A-D16]', t => {
	for (const answered of ['2025-12-01', '1999-01-01', '1.0', 'latest', 'DRAFT-2026-v1']) {
		t.is(resolveVersion(answered)?.version, '2025-11-25');
		t.true(resolveVersion(answered)?.warning?.includes(answered));
	}
});

test('nothing is spoken with what is modern or newer', t => {
	for (const answered of ['2026-07-28', '2027-01-01']) t.is(resolveVersion(answered), undefined);
});

test('a client is told what it asked for, if that is known', t => {
	t.is(clientVersionFor('2025-03-26'), '2025-03-26');
	t.is(clientVersionFor('2024-10-07'), '2024-11-05');
	for (const asked of ['2026-07-28', 'x', undefined]) t.is(clientVersionFor(asked), '2025-11-25');
	t.is(clientVersionFor('2025-03-26', '2024-11-05'), '2024-11-05');
});

test('what a refusal names is asked for first, the newest of it, and nothing twice', t => {
	const refusal = {message: 'use 2024-11-05', data: {supported: ['2025-03-26', '2026-07-28', '2031-01-01']}};
	const tried: string[] = [];
	for (
		let next = nextVersionToTry(refusal, tried);
		next !== undefined;
		next = nextVersionToTry(refusal, tried)
	)
		tried.push(next);
	t.deepEqual(tried, ['2025-03-26', '2024-11-05', '2025-11-25', '2025-06-18']);
});

test('a date inside of a longer number is no version', t => {
	t.is(nextVersionToTry({message: '12024-11-055'}, ['2025-11-25']), '2025-06-18');
});
