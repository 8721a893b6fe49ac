export const PACKAGE_NAME = 'mcp-stream-bridge';
