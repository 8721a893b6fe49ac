import type {IncomingMessage, ServerResponse} from 'node:http';
import {BodyBuffer} from '../body-buffer.js';
import type {HttpError} from '../http-error.js';
import {checkMethod} from '../replies.js';
import {GuessLimiter} from './guess-limiter.js';
import {LoginCookies, type SharedLogins} from './login-cookies.js';

const MAX_FORM_BYTES = 4096;

type LoginOptions = {
	readonly isRequired: () => boolean;
	readonly isToken: (text: string) => boolean;
	/** Sends the page for logged-in browsers. */
	readonly servePage: (res: ServerResponse) => void;
	readonly cookieName?: string;
	/** The login state that replicas share, if there are several. */
	readonly shared?: () => SharedLogins | undefined;
	/** The system clock, in milliseconds. */
	readonly now?: () => number;
};

/** Lets people log in with a browser, which cannot send a token in a header: by a form and a cookie. */
export class Login {
	readonly #options: LoginOptions;
	/** Each cookie belongs to a token, and is invalid once that is removed from the configuration. */
	readonly #cookies: LoginCookies;
	readonly #guessLimiter = new GuessLimiter();

	constructor(options: LoginOptions) {
		this.#options = options;
		this.#cookies = new LoginCookies(options.shared, options.now);
	}

	get #cookieName(): string {
		return this.#options.cookieName ?? 'bridge_login';
	}

	/** The values of the login cookies of a request. Usually there is one. */
	#cookieValues({headers: {cookie = ''}}: IncomingMessage): string[] {
		const pairs = cookie.split(';').map(part => part.trim().split('='));
		return pairs.flatMap(([name, value = '']) => (name === this.#cookieName ? [value] : []));
	}

	isLoggedIn(req: IncomingMessage): boolean {
		return this.tokenOf(req) !== undefined;
	}

	/** Returns the token that the browser logged in with, if it is still configured. */
	tokenOf(req: IncomingMessage): string | undefined {
		if (req.headers.cookie === undefined) return;
		const tokens = this.#cookieValues(req).map(value => this.#cookies.tokenOf(value));
		return tokens.find(token => token !== undefined && this.#options.isToken(token));
	}

	/**
	 * Looks up in the store whether the cookie of a request was logged out. Returns undefined if there is no
	 * need to wait.
	 */
	confirm(req: IncomingMessage): Promise<void> | undefined {
		if (req.headers.cookie === undefined) return;
		const checks = this.#cookieValues(req).map(value => this.#cookies.confirm(value));
		return checks.some(check => check !== undefined) ? Promise.all(checks).then(() => {}) : undefined;
	}

	/** Logs a browser out: every copy of its cookie becomes invalid. */
	logOut(req: IncomingMessage, res: ServerResponse): HttpError | undefined {
		const methodError = checkMethod(req, ['POST']);
		if (methodError) return methodError;
		for (const value of this.#cookieValues(req)) this.#cookies.revoke(value);
		const cookie = `${this.#cookieName}=; ${ATTRIBUTES}; Max-Age=0`;
		res.writeHead(303, {location: '/', 'set-cookie': cookie, 'content-length': 0}).end();
		return;
	}

	/** Sends the page to a logged-in browser, and the login form to others. */
	serveFrontPage(req: IncomingMessage, res: ServerResponse): HttpError | undefined {
		const {isRequired, servePage} = this.#options;
		if (req.method === 'POST' && isRequired()) return this.#readForm(req, res);
		const methodError = checkMethod(req, isRequired() ? ['GET', 'POST'] : ['GET']);
		if (methodError) return methodError;
		if (isRequired() && !this.isLoggedIn(req)) sendHtml(res, 200, loginForm(''));
		else servePage(res);
		return;
	}

	/** Logs a browser in with a token, and redirects it to the front page. */
	submitToken(res: ServerResponse, token: string): void {
		const address = res.req.socket.remoteAddress ?? '';
		const waitMs = this.#guessLimiter.waitMs(address);
		if (waitMs > 0) {
			const seconds = Math.ceil(waitMs / 1000);
			res.setHeader('retry-after', String(seconds));
			sendHtml(res, 429, loginForm(`There were too many wrong tokens. Try again in ${seconds} s.`));
			return;
		}
		if (!this.#options.isToken(token)) {
			this.#guessLimiter.countFailure(address);
			sendHtml(res, 401, loginForm('This is not a token of this gateway. Use one of the configured tokens.'));
			return;
		}
		const cookie = `${this.#cookieName}=${this.#cookies.issue(token)}; ${ATTRIBUTES}`;
		res.writeHead(303, {location: '/', 'set-cookie': cookie, 'content-length': 0}).end();
	}

	#readForm(req: IncomingMessage, res: ServerResponse): HttpError | undefined {
		const type = req.headers['content-type'] ?? '';
		if (!type.startsWith('application/x-www-form-urlencoded'))
			return {
				status: 415,
				message: 'Unsupported Media Type: Content-Type has to be application/x-www-form-urlencoded',
			};
		const body = new BodyBuffer(MAX_FORM_BYTES);
		req.on('data', (chunk: Buffer) => body.add(chunk));
		req.on('end', () => {
			this.submitToken(
				res,
				new URLSearchParams(body.isTooLarge ? '' : body.bytes().toString()).get('token') ?? '',
			);
		});
		return;
	}
}

const ATTRIBUTES = 'HttpOnly; SameSite=Strict; Path=/';

const loginForm = (problem: string): string =>
	`<main><h1>bridge</h1><form method="post" action="/"><label for="token">Token</label><input id="token" type="password" name="token" autocomplete="current-password" autofocus><p role="alert">${problem}</p><button>Log in</button></form></main>`;

const style = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{margin:0;min-height:100vh;display:grid;place-items:center;background:Canvas;color:CanvasText}
main{width:min(20rem,90vw)}h1{font-size:1.25rem;margin:0 0 1rem}label{display:block;margin-bottom:.25rem}input,button{font:inherit;width:100%;box-sizing:border-box;padding:.5rem .6rem;border-radius:6px;border:1px solid GrayText}
button{margin-top:.75rem;cursor:pointer}p{min-height:1.5em;margin:.25rem 0;color:#c62828}`;

function sendHtml(res: ServerResponse, status: number, content: string): void {
	const body = Buffer.from(
		`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>bridge</title><style>${style}</style><body>${content}</body></html>\n`,
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
