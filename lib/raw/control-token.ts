import {BridgeError} from '../core/errors.js';

const MIN_LENGTH = 16;

/** Returns the token that clients of the control server need, from the flag or from BRIDGE_MCP_TOKEN. */
export function readControlToken(flag: string | undefined, env: NodeJS.ProcessEnv): string | undefined {
	const token = flag ?? (env.BRIDGE_MCP_TOKEN || undefined);
	if (token === undefined || (token.length >= MIN_LENGTH && /^[\x21-\x7e]+$/.test(token))) return token;
	throw new BridgeError(
		'ERR_CONFIG_INVALID',
		`The token of the control server is too short, or contains characters other than printable ASCII without spaces (${flag === undefined ? 'BRIDGE_MCP_TOKEN' : '--mcp-token'}).`,
		`Use ${MIN_LENGTH} characters or more. This command prints a token: openssl rand -hex 16`,
	);
}
