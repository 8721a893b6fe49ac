import {spawn} from 'node:child_process';
import process from 'node:process';

/** The commands that open a URL in the browser of the user. */
const openers: {readonly [platform: string]: string} = {darwin: 'open', win32: 'explorer'};

/** Opens a URL in the browser. `failed` receives the reason if no browser can be started. */
export function openPage(url: string, failed: (reason: string) => void): void {
	const command = openers[process.platform] ?? 'xdg-open';
	const browser = spawn(command, [url], {stdio: 'ignore', detached: true});
	browser.once('error', ({code, message}: NodeJS.ErrnoException) =>
		failed(code === 'ENOENT' ? `${command} is not installed` : message),
	);
	browser.unref();
}
