import {basename} from 'node:path';

/** Programs that run the server proper, which is the first of their arguments that is no flag. */
const launchers = /^(?:npx|npm|pnpm|yarn|bunx?|deno|node|nodejs|uvx?|pipx|python[\d.]*|tsx|ts-node|env)$/;
const subcommands = /^(?:exec|x|run|dlx|tool)$/;

/** What to call a server when talking of it: `npx -y @scope/server-files .` is server-files. */
export function serverName([command = '', ...args]: readonly string[]): string {
	const program = nameOf(command);
	if (!launchers.test(program)) return program;
	const server = args.find(arg => !arg.startsWith('-') && !subcommands.test(arg));
	// Something else than a name is code, as in node -e CODE.
	return server !== undefined && /^[\w@./\\:+~-]+$/.test(server) ? nameOf(server) : program;
}

const nameOf = (path: string): string =>
	basename(path).replace(/(.)(?:\.[cm]?[jt]s|\.py|\.exe|\.cmd|@[\w.^~-]*)$/, '$1');
