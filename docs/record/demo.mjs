// Records `npm run demo`, a client and a server with `bridge --debug` between them, as docs/demo.svg.
// `npm run build && node docs/record/demo.mjs`
import split2 from 'split2';
import {spawn} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import process from 'node:process';
import {fileURLToPath} from 'node:url';

const client = fileURLToPath(new URL('../../dist/fixtures/demo/client.js', import.meta.url));
const target = new URL('../demo.svg', import.meta.url);

const [CHARACTER, LINE, MARGIN, BAR] = [7.23, 19, 16, 30];
/** Seconds between two lines; in which the whole recording is shown after the last one. */
const [STEP, PAUSE] = [0.45, 8];
/** Longer lines end with …, so that the picture fits into a page. */
const COLUMNS = 108;

const escaped = text => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** The lines of the trace, and the command above them. */
async function record() {
	const child = spawn(process.execPath, [client], {stdio: ['ignore', 'pipe', 'pipe'], env: {...process.env, NO_COLOR: '1'}});
	const outputs = [child.stdout, child.stderr].map(output => output.pipe(split2()).toArray());
	const [[command], trace] = await Promise.all(outputs);
	// A terminal has local time, without the Z.
	return [command, ...trace.filter(line => /^\d\d:\d\d:\d\d/.test(line)).map(line => line.replace('Z', ''))];
}

/** A line with its time dimmed and its arrow and errors colored. */
function styled(line) {
	const [, time, arrow, rest] = /^(\d\d:\d\d:\d\d\.\d{3}) ([→←])(.*)$/.exec(line) ?? [];
	if (time === undefined) return `<tspan class="command">${escaped(line)}</tspan>`;
	const isError = / error\b|not JSON/.test(rest);
	const [, what, error = ''] = /^(.*?)( error -.*)?$/.exec(rest);
	return [
		`<tspan class="time">${time}</tspan>`,
		`<tspan class="${arrow === '→' ? 'request' : 'response'}"> ${arrow}</tspan>`,
		`<tspan${isError && error === '' ? ' class="error"' : ''}>${escaped(what)}</tspan>`,
		error === '' ? '' : `<tspan class="error">${escaped(error)}</tspan>`,
	].join('');
}

/** An SVG in which the lines appear one after the other, again and again. */
function render(all) {
	const lines = all.map(line => (line.length > COLUMNS ? `${line.slice(0, COLUMNS - 1)}…` : line));
	const total = lines.length * STEP + PAUSE;
	const width = Math.ceil(COLUMNS * CHARACTER + 2 * MARGIN);
	const height = BAR + (lines.length + 1) * LINE + MARGIN;
	const percent = at => ((100 * at * STEP) / total).toFixed(2);
	const frames = lines.map((_, at) => `@keyframes l${at}{0%,${percent(at)}%{opacity:0}${percent(at + 0.1)}%,100%{opacity:1}}`);
	const delays = lines.map((_, at) => `.l${at}{animation:l${at} ${total.toFixed(2)}s infinite}`);
	const texts = lines.map((line, at) => `<text class="l${at}" x="${MARGIN}" y="${BAR + (at + 1) * LINE}">${styled(line)}</text>`);
	return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="bridge --debug shows each message with its time, direction, method, id, size and latency">
<style>
svg{--back:#fff;--edge:#d0d7de;--text:#1f2328;--dim:#6e7781;--request:#0969da;--response:#1a7f37;--error:#cf222e}
@media (prefers-color-scheme:dark){svg{--back:#0d1117;--edge:#30363d;--text:#e6edf3;--dim:#8b949e;--request:#58a6ff;--response:#3fb950;--error:#ff7b72}}
.frame{fill:var(--back);stroke:var(--edge)}.dot{fill:var(--edge)}
text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--text);white-space:pre}
.command{font-weight:bold}.time{fill:var(--dim)}.request{fill:var(--request)}.response{fill:var(--response)}.error{fill:var(--error)}
${delays.join('')}
${frames.join('\n')}
@media (prefers-reduced-motion:reduce){text{animation:none!important}}
</style>
<rect class="frame" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>
<circle class="dot" cx="18" cy="16" r="5"/><circle class="dot" cx="34" cy="16" r="5"/><circle class="dot" cx="50" cy="16" r="5"/>
${texts.join('\n')}
</svg>
`;
}

const svg = render(await record());
if (process.argv[2] === '-') process.stdout.write(svg);
else writeFileSync(target, svg);
