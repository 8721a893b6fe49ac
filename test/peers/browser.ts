import {existsSync} from 'node:fs';
import process from 'node:process';
import {fileURLToPath} from 'node:url';
import test, {type ExecutionContext} from 'ava';
import {until} from '../helpers/program.js';
import {peerUrl} from './peers.js';

/* Types for the part of Playwright that these tests use, since the project does not depend on it. */

export interface Page {
	goto(url: string): Promise<unknown>;
	click(selector: string, options?: {readonly modifiers?: readonly string[]}): Promise<void>;
	fill(selector: string, text: string): Promise<void>;
	selectOption(selector: string, value: string): Promise<unknown>;
	waitForSelector(selector: string): Promise<unknown>;
	waitForEvent(name: 'download'): Promise<{createReadStream(): Promise<NodeJS.ReadableStream>}>;
	textContent(selector: string): Promise<string | null>;
	evaluate<T>(text: string): Promise<T>;
	on(event: string, listener: (value: never) => void): void;
	screenshot(options: {readonly path: string}): Promise<unknown>;
	close(): Promise<void>;
	readonly keyboard: {press(key: string): Promise<void>; type(text: string): Promise<void>};
	readonly mouse: {move(x: number, y: number): Promise<void>; wheel(x: number, y: number): Promise<void>};
}

interface Browser {
	newPage(options: object): Promise<Page>;
	close(): Promise<void>;
}

type Chromium = {launch(options: object): Promise<Browser>};

/** A page with the errors and dialogs that it must not have. */
export type Watched = {readonly page: Page; readonly complaints: string[]};

/** Polls an expression from outside: the page's CSP forbids Playwright's own waiting. */
export const holds = (page: Page, expression: string): Promise<void> =>
	until(() => page.evaluate<boolean>(`Boolean(${expression})`), 60_000);

/** A file of the browser that `install.mjs` unpacks. */
const inBrowser = (name: string): string => fileURLToPath(peerUrl(`.chromium/${name}`));

/** The browser's own libraries and fonts, which a machine without a desktop may lack. */
const browserEnv = {
	...process.env,
	LD_LIBRARY_PATH: inBrowser('lib'),
	FONTCONFIG_FILE: inBrowser('fonts.conf'),
};

/** Shares one Chromium between all tests of a file. Each test gets its own page. */
export function shareChromium(): (t: ExecutionContext, options?: object) => Promise<Watched> {
	let browser: Browser | undefined;
	test.serial.before(async () => {
		const {default: playwright} = (await import(peerUrl('playwright-core/index.js').href)) as {
			default: {chromium: Chromium};
		};
		const executablePath = inBrowser('chromium');
		if (!existsSync(executablePath))
			throw new Error(
				`Chromium is not installed at ${executablePath}. It is available for Linux on x64 only.`,
			);
		browser = await playwright.chromium.launch({executablePath, env: browserEnv});
	});
	test.after.always(async () => browser?.close());
	return async (t, options = {}) => {
		if (!browser) throw new Error('Chromium starts before the first test.');
		const page = await browser.newPage({
			viewport: {width: 1360, height: 760},
			permissions: ['clipboard-read', 'clipboard-write'],
			...options,
		});
		t.teardown(() => page.close());
		const complaints: string[] = [];
		page.on('pageerror', (error: Error) => complaints.push(error.message));
		page.on('dialog', () => complaints.push('a dialog'));
		page.on('console', (message: {type(): string; text(): string}) => {
			if (message.type() === 'error') complaints.push(message.text());
		});
		return {page, complaints};
	};
}
