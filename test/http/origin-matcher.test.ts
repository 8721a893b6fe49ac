import test from 'ava';
import {originMatcher} from '../../lib/http/origin-matcher.js';

for (const [configured, origin, expected] of [
	['https://app.example.com', 'https://APP.example.com', true],
	['https://app.example.com', 'https://appXexample.com', false],
	['https://app.example.com', 'https://app.example.com:8443', false],
	['http://localhost:*', 'http://localhost', true],
	['http://localhost:*', 'http://localhost:65535', true],
	['http://localhost:*', 'http://localhost:123456', false],
	['http://localhost:*', 'http://localhost.evil:80', false],
	['https://*.example.org', 'https://a.b.example.org', true],
	['https://*.example.org', 'https://example.org', false],
	['https://*.example.org', 'https://.example.org', false],
	['https://*.example.org', 'https://evil.com/.example.org', false],
	['https://*.example.org', 'https://a..example.org', false],
	['https://*.example.org:*', 'https://a.example.org:8443', true],
	['http://a+.example', 'http://aa.example', false],
] as const)
	test(`${configured} ${expected ? 'allows' : 'does not allow'} ${origin} [SEC-D1]`, t => {
		t.is(originMatcher(configured)(origin), expected);
	});
