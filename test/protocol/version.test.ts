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

test('lists versions in ascending order', t => {
	t.deepEqual(versions.toSorted(), [...versions]);
});

test('accepts the stateless version, which has no handshake', t => {
	t.true(isVersion('2026-07-28'));
	t.false(isHandshakeVersion('2026-07-28'));
	t.true(handshakeVersions.every(version => isVersion(version) && isHandshakeVersion(version)));
	for (const other of ['2024-10-07', '', undefined, 5]) t.false(isVersion(other));
});

test('resolves a known version to itself', t => {
	for (const version of handshakeVersions) t.deepEqual(resolveVersion(version), {version});
	t.deepEqual(resolveVersion('2024-10-07'), {version: '2024-11-05'});
});

test('resolves an invalid version to the oldest one', t => {
	for (const reported of [undefined, null, 5, {}, '']) {
		t.is(resolveVersion(reported)?.version, '2024-11-05');
		t.truthy(resolveVersion(reported)?.warning);
	}
});

test('resolves an unknown version that is not a later date to the newest handshake version [A-D16]', t => {
	for (const reported of ['2025-12-01', '1999-01-01', '1.0', 'latest', 'DRAFT-2026-v1']) {
		t.is(resolveVersion(reported)?.version, '2025-11-25');
		t.true(resolveVersion(reported)?.warning?.includes(reported));
	}
});

test('rejects the stateless version and later ones in a handshake', t => {
	for (const reported of ['2026-07-28', '2027-01-01']) t.is(resolveVersion(reported), undefined);
});

test('selects the version that the client requested, if it is known', t => {
	t.is(clientVersionFor('2025-03-26'), '2025-03-26');
	t.is(clientVersionFor('2024-10-07'), '2024-11-05');
	for (const requested of ['2026-07-28', 'x', undefined]) t.is(clientVersionFor(requested), '2025-11-25');
	t.is(clientVersionFor('2025-03-26', '2024-11-05'), '2024-11-05');
});

test('tries the versions in an error first, the newest of them first, and none twice', t => {
	const error = {message: 'use 2024-11-05', data: {supported: ['2025-03-26', '2026-07-28', '2031-01-01']}};
	const tried: string[] = [];
	for (let next = nextVersionToTry(error, tried); next !== undefined; next = nextVersionToTry(error, tried))
		tried.push(next);
	t.deepEqual(tried, ['2025-03-26', '2024-11-05', '2025-11-25', '2025-06-18']);
});

test('ignores a date inside a longer number', t => {
	t.is(nextVersionToTry({message: '12024-11-055'}, ['2025-11-25']), '2025-06-18');
});
