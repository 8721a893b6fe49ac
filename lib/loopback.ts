/** Whether a host, as URLs and listen addresses name it, is this machine and cannot be reached from another. */
export const isLoopback = (host: string): boolean => /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
