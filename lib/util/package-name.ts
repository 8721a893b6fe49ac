/** The name of bridge in the package registry. */
export const PACKAGE_NAME = 'mcp-stream-bridge';
