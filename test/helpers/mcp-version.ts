/** Every version of the protocol, the oldest first. */
export const versions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'] as const;

export type McpVersion = (typeof versions)[number];
export type Sender = 'client' | 'server';

export const isMcpVersion = (text: string): text is McpVersion => versions.some(version => version === text);
