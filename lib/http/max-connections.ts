/** Connections that an HTTP server of bridge accepts at a time. */
export const MAX_CONNECTIONS = 1024;
