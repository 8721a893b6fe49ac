import {randomBytes} from 'node:crypto';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {BoundedMap} from '../bounded-map.js';
import type {Refused} from '../http/refuse.js';
import {WholeBody} from '../http/whole-body.js';
import {only} from './replies.js';

/** Browsers that may be logged in at a time. The oldest has to log in anew for the next. */
const MAX_LOGINS = 1000;
const MAX_FORM = 4096;
const COOKIE = 'bridge_login';

export type LoginOptions = {
	/** Whether there is anything to know. */
	readonly isNeeded: () => boolean;
	readonly isToken: (text: string) => boolean;
	/** What people see who are logged in. */
	readonly page: () => string;
};

/** The way in for people with a browser, which cannot send a token with what it asks for: a form, and a cookie then. */
export class Login {
	readonly #options: LoginOptions;
	/** The tokens that browsers have shown, by their cookies. Who took a token back meant them, too. */
	readonly #known = new BoundedMap<string, string>(MAX_LOGINS);

	constructor(options: LoginOptions) {
		this.#options = options;
	}

	/** Whether a request comes from a browser that is logged in. */
	knows({headers: {cookie = ''}}: IncomingMessage): boolean {
		const given = cookie.split(';').map(part => part.trim().split('='));
		return given.some(([name, value = '']) => {
			const token = name === COOKIE ? this.#known.get(value) : undefined;
			return token !== undefined && this.#options.isToken(token);
		});
	}

	/** Answers a request for the first page. */
	serve(req: IncomingMessage, res: ServerResponse): Refused | undefined {
		const {isNeeded, page} = this.#options;
		if (req.method === 'POST' && isNeeded()) return this.#logIn(req, res);
		const wrong = only(req, isNeeded() ? ['GET', 'POST'] : ['GET']);
		if (wrong) return wrong;
		html(res, 200, isNeeded() && !this.knows(req) ? form('') : page());
		return;
	}

	#logIn(req: IncomingMessage, res: ServerResponse): Refused | undefined {
		const type = req.headers['content-type'] ?? '';
		if (!type.startsWith('application/x-www-form-urlencoded'))
			return {status: 415, message: 'Unsupported Media Type: this is a form'};
		const body = new WholeBody(MAX_FORM);
		req.on('data', (chunk: Buffer) => body.add(chunk));
		req.on('end', () => {
			const token = new URLSearchParams(body.isTooLarge ? '' : body.bytes().toString()).get('token') ?? '';
			if (!this.#options.isToken(token)) {
				html(res, 401, form('That is not a token of this bridge.'));
				return;
			}
			const value = randomBytes(32).toString('base64url');
			this.#known.set(value, token);
			const cookie = `${COOKIE}=${value}; HttpOnly; SameSite=Strict; Path=/`;
			res.writeHead(303, {location: '/', 'set-cookie': cookie, 'content-length': 0}).end();
		});
		return;
	}
}

/** What people see first: what there is, and where. Names are such that they need no care in HTML. */
export function firstPage(services: readonly string[]): string {
	const items = services.map(name => `<li><code>/mcp/${name}</code></li>`).join('');
	return `<h1>bridge</h1><ul>${items}</ul><p><a href="/status">status</a> · <a href="/metrics">metrics</a></p>`;
}

const form = (problem: string): string =>
	`<h1>bridge</h1><p>${problem}</p><form method="post" action="/"><label>Token <input type="password" name="token" autofocus></label> <button>Log in</button></form>`;

function html(res: ServerResponse, status: number, content: string): void {
	const body = Buffer.from(
		`<!doctype html><html lang="en"><meta charset="utf-8"><title>bridge</title><body style="font-family:sans-serif;margin:2rem">${content}</body></html>\n`,
	);
	res
		.writeHead(status, {
			'content-type': 'text/html; charset=utf-8',
			'content-length': body.length,
			'cache-control': 'no-store',
			'content-security-policy':
				"default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'",
			'x-content-type-options': 'nosniff',
		})
		.end(body);
}
