export const MAX_CONNECTIONS = 1024;
