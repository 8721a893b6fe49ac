/** The name of bridge in the package registry. */
export const PACKAGE = 'mcp-stream-bridge';
