import {readdirSync, readFileSync} from 'node:fs';
import type {ServerResponse} from 'node:http';

const contentTypes: ReadonlyMap<string, string> = new Map([
	['js', 'text/javascript; charset=utf-8'],
	['css', 'text/css; charset=utf-8'],
	['html', 'text/html; charset=utf-8'],
	['svg', 'image/svg+xml'],
]);

/**
 * Logs may contain hostile texts. The policy therefore allows only scripts and styles from the files of the
 * page and connections to its own server, and forbids converting text to markup.
 */
const CONTENT_SECURITY_POLICY = [
	"default-src 'none'",
	"script-src 'self'",
	"style-src 'self'",
	"img-src 'self'",
	"connect-src 'self'",
	"form-action 'none'",
	"frame-ancestors 'none'",
	"base-uri 'none'",
	"require-trusted-types-for 'script'",
	"trusted-types 'none'",
].join('; ');

/** Headers of all responses of the page server. */
export const securityHeaders = {
	'content-security-policy': CONTENT_SECURITY_POLICY,
	'x-content-type-options': 'nosniff',
	'referrer-policy': 'no-referrer',
	'cross-origin-resource-policy': 'same-origin',
	'cross-origin-opener-policy': 'same-origin',
	'cache-control': 'no-store',
} as const;

type PageAsset = {readonly body: Buffer; readonly type: string};

/** The files of the page. Read once. */
export class PageAssets {
	readonly #folder: URL;
	#files: ReadonlyMap<string, PageAsset> | undefined;

	constructor(folder: URL) {
		this.#folder = folder;
	}

	/** Sends a file and returns true, or returns false if it does not exist. */
	serve(res: ServerResponse, name: string): boolean {
		const file = this.#load().get(name);
		if (!file) return false;
		res.writeHead(200, {...securityHeaders, 'content-type': file.type, 'content-length': file.body.length});
		res.end(file.body);
		return true;
	}

	#load(): ReadonlyMap<string, PageAsset> {
		this.#files ??= new Map(
			readdirSync(this.#folder).flatMap(name => {
				const type = contentTypes.get(name.split('.').at(-1) ?? '');
				return type === undefined ? [] : [[name, {body: readFileSync(new URL(name, this.#folder)), type}]];
			}),
		);
		return this.#files;
	}
}
