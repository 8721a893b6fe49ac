/** The name of bridge in the npm registry. */
export const PACKAGE_NAME = 'mcp-stream-bridge';
