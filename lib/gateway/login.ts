import {randomBytes} from 'node:crypto';
import type {IncomingMessage, ServerResponse} from 'node:http';
import {BoundedMap} from '../bounded-map.js';
import type {Refused} from '../http/refuse.js';
import {WholeBody} from '../http/whole-body.js';
import type {CommonSeal} from '../replicas/seal.js';
import {only} from './replies.js';

/** Browsers that may be logged in at a time. The oldest has to log in anew for the next. */
const MAX_LOGINS = 1000;
const MAX_FORM = 4096;

export type LoginOptions = {
	/** Whether there is anything to know. */
	readonly isNeeded: () => boolean;
	readonly isToken: (text: string) => boolean;
	/** Answers with what people see who are logged in. */
	readonly page: (res: ServerResponse) => void;
	/** Its name. */
	readonly cookie?: string;
	/** What seals cookies that other replicas are to understand, where there are any. */
	readonly seal?: () => CommonSeal | undefined;
};

/** How long a sealed one is good for. */
const LIFETIME_MS = 24 * 3600 * 1000;
const PURPOSE = 'login';

/** The way in for people with a browser, which cannot send a token with what it asks for: a form, and a cookie then. */
export class Login {
	readonly #options: LoginOptions;
	/** The tokens that browsers have shown, by their cookies. Who took a token back meant them, too. */
	readonly #known = new BoundedMap<string, string>(MAX_LOGINS);

	constructor(options: LoginOptions) {
		this.#options = options;
	}

	get #cookie(): string {
		return this.#options.cookie ?? 'bridge_login';
	}

	/** Whether a request comes from a browser that is logged in. */
	knows({headers: {cookie = ''}}: IncomingMessage): boolean {
		const given = cookie.split(';').map(part => part.trim().split('='));
		return given.some(([name, value = '']) => {
			const token = name === this.#cookie ? this.#tokenOf(value) : undefined;
			return token !== undefined && this.#options.isToken(token);
		});
	}

	/** The token that a browser has shown which has this cookie. */
	#tokenOf(value: string): string | undefined {
		const seal = this.#options.seal?.();
		if (!seal) return this.#known.get(value);
		const [until = 0, token] = JSON.parse(seal.open(value, PURPOSE) ?? '[]') as [number?, string?];
		return Date.now() < until ? token : undefined;
	}

	#valueFor(token: string): string {
		const seal = this.#options.seal?.();
		if (seal) return seal.close(JSON.stringify([Date.now() + LIFETIME_MS, token]), PURPOSE);
		const value = randomBytes(32).toString('base64url');
		this.#known.set(value, token);
		return value;
	}

	/** Answers a request for the first page. */
	serve(req: IncomingMessage, res: ServerResponse): Refused | undefined {
		const {isNeeded, page} = this.#options;
		if (req.method === 'POST' && isNeeded()) return this.#logIn(req, res);
		const wrong = only(req, isNeeded() ? ['GET', 'POST'] : ['GET']);
		if (wrong) return wrong;
		if (isNeeded() && !this.knows(req)) html(res, 200, form(''));
		else page(res);
		return;
	}

	/** Lets a browser in that has shown a token, and sends it to the first page. */
	letIn(res: ServerResponse, token: string): void {
		if (!this.#options.isToken(token)) {
			html(res, 401, form('That is not a token of this bridge.'));
			return;
		}
		const cookie = `${this.#cookie}=${this.#valueFor(token)}; HttpOnly; SameSite=Strict; Path=/`;
		res.writeHead(303, {location: '/', 'set-cookie': cookie, 'content-length': 0}).end();
	}

	#logIn(req: IncomingMessage, res: ServerResponse): Refused | undefined {
		const type = req.headers['content-type'] ?? '';
		if (!type.startsWith('application/x-www-form-urlencoded'))
			return {status: 415, message: 'Unsupported Media Type: this is a form'};
		const body = new WholeBody(MAX_FORM);
		req.on('data', (chunk: Buffer) => body.add(chunk));
		req.on('end', () => {
			this.letIn(res, new URLSearchParams(body.isTooLarge ? '' : body.bytes().toString()).get('token') ?? '');
		});
		return;
	}
}

const form = (problem: string): string =>
	`<main><h1>bridge</h1><form method="post" action="/"><label for="token">Token</label><input id="token" type="password" name="token" autocomplete="current-password" autofocus><p role="alert">${problem}</p><button>Log in</button></form></main>`;

const style = `:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}body{margin:0;min-height:100vh;display:grid;place-items:center;background:Canvas;color:CanvasText}
main{width:min(20rem,90vw)}h1{font-size:1.25rem;margin:0 0 1rem}label{display:block;margin-bottom:.25rem}input,button{font:inherit;width:100%;box-sizing:border-box;padding:.5rem .6rem;border-radius:6px;border:1px solid GrayText}
button{margin-top:.75rem;cursor:pointer}p{min-height:1.5em;margin:.25rem 0;color:#c62828}`;

function html(res: ServerResponse, status: number, content: string): void {
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
