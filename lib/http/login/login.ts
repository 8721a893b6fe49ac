import type {IncomingMessage, ServerResponse} from 'node:http';
import {BodyBuffer} from '../body-buffer.js';
import type {HttpError} from '../http-error.js';
import {checkMethod} from '../replies.js';
import {GuessLimiter} from './guess-limiter.js';
import {LoginCookies, type SharedLogins} from './login-cookies.js';

const MAX_FORM_BYTES = 4096;

type LoginOptions = {
	/** Whether there is anything to know. */
	readonly isRequired: () => boolean;
	readonly isToken: (text: string) => boolean;
	/** Answers with what people see who are logged in. */
	readonly servePage: (res: ServerResponse) => void;
	/** Its name. */
	readonly cookieName?: string;
	/** The state that replicas share, where there are any. */
	readonly shared?: () => SharedLogins | undefined;
	/** The system clock, in milliseconds. */
	readonly now?: () => number;
};

/** The way in for people with a browser, which cannot send a token with what it asks for: a form, and a cookie then. */
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

	/** The values of the login cookies of a request: one, as a rule. */
	#cookieValues({headers: {cookie = ''}}: IncomingMessage): string[] {
		const pairs = cookie.split(';').map(part => part.trim().split('='));
		return pairs.flatMap(([name, value = '']) => (name === this.#cookieName ? [value] : []));
	}

	/** Whether a request comes from a browser that is logged in. */
	isLoggedIn(req: IncomingMessage): boolean {
		return this.tokenOf(req) !== undefined;
	}

	/** The token that the browser logged in with, as long as it is configured. */
	tokenOf(req: IncomingMessage): string | undefined {
		if (req.headers.cookie === undefined) return;
		const tokens = this.#cookieValues(req).map(value => this.#cookies.tokenOf(value));
		return tokens.find(token => token !== undefined && this.#options.isToken(token));
	}

	/** Looks up in the store whether the cookie of a request was logged out. Returns undefined if there is no need to wait. */
	confirm(req: IncomingMessage): Promise<void> | undefined {
		if (req.headers.cookie === undefined) return;
		const checks = this.#cookieValues(req).map(value => this.#cookies.confirm(value));
		return checks.some(check => check !== undefined) ? Promise.all(checks).then(() => {}) : undefined;
	}

	/** Ends a login: every copy of its cookie becomes invalid. */
	logOut(req: IncomingMessage, res: ServerResponse): HttpError | undefined {
		const methodError = checkMethod(req, ['POST']);
		if (methodError) return methodError;
		for (const value of this.#cookieValues(req)) this.#cookies.revoke(value);
		const cookie = `${this.#cookieName}=; ${ATTRIBUTES}; Max-Age=0`;
		res.writeHead(303, {location: '/', 'set-cookie': cookie, 'content-length': 0}).end();
		return;
	}

	/** Answers a request for the first page. */
	serveFrontPage(req: IncomingMessage, res: ServerResponse): HttpError | undefined {
		const {isRequired, servePage} = this.#options;
		if (req.method === 'POST' && isRequired()) return this.#readForm(req, res);
		const methodError = checkMethod(req, isRequired() ? ['GET', 'POST'] : ['GET']);
		if (methodError) return methodError;
		if (isRequired() && !this.isLoggedIn(req)) sendHtml(res, 200, loginForm(''));
		else servePage(res);
		return;
	}

	/** Lets a browser in that has shown a token, and sends it to the first page. */
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
			return {status: 415, message: 'Unsupported Media Type: this is a form'};
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
