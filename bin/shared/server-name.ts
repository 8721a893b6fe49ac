import {basename} from 'node:path';

/** Programs that launch the actual server, which is their first argument that is not a flag. */
const launchers = /^(?:npx|npm|pnpm|yarn|bunx?|deno|node|nodejs|uvx?|pipx|python[\d.]*|tsx|ts-node|env)$/;
const subcommands = /^(?:exec|x|run|dlx|tool)$/;

/** The display name of a server: `npx -y @scope/server-files .` becomes server-files. */
export function serverName([command = '', ...args]: readonly string[]): string {
	const program = nameOf(command);
	if (!launchers.test(program)) return program;
	const server = args.find(arg => !arg.startsWith('-') && !subcommands.test(arg));
	// An argument that is not a name may be code, as in node -e CODE.
	return server !== undefined && /^[\w@./\\:+~-]+$/.test(server) ? nameOf(server) : program;
}

const nameOf = (path: string): string =>
	basename(path).replace(/(.)(?:\.[cm]?[jt]s|\.py|\.exe|\.cmd|@[\w.^~-]*)$/, '$1');
