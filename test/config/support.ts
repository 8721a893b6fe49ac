import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {ExecutionContext} from 'ava';
import type {EnvironmentVariables} from '../../lib/config/expand-variables.js';
import {type LoadedConfig, loadConfigFile} from '../../lib/config/load-config.js';
import type {Config, ServiceConfig} from '../../lib/config/schema.js';
import {BridgeError} from '../../lib/core/errors.js';
import {newFolder} from '../helpers/program.js';

/** Returns the source path of a file in fixtures/config. */
export const configFixture = (name: string): string =>
	fileURLToPath(new URL(`../../../fixtures/config/${name}`, import.meta.url));

/**
 * Returns whether a warning is about the content of a file. Clones may also cause warnings about permissions.
 */
export const isAboutContent = (warning: string): boolean => !warning.includes('other users can run programs');

/** Writes a file into a new folder. */
export async function written(t: ExecutionContext, name: string, text: string | Uint8Array): Promise<string> {
	const file = join(await newFolder(t), name);
	await writeFile(file, text, {mode: 0o600});
	return file;
}

/** Loads a text as a configuration file. */
export async function loaded(
	t: ExecutionContext,
	text: string,
	{name = 'bridge.yaml', environment = {}}: {name?: string; environment?: EnvironmentVariables} = {},
): Promise<LoadedConfig> {
	return loadConfigFile(await written(t, name, text), environment);
}

/** Returns the error message of loading a text. */
export async function complaint(
	t: ExecutionContext,
	text: string,
	options: {name?: string; environment?: EnvironmentVariables} = {},
): Promise<string> {
	const error = await t.throwsAsync(loaded(t, text, options), {instanceOf: BridgeError});
	t.is(error?.code, 'ERR_CONFIG_INVALID');
	t.is(error?.exitCode, 2);
	return error?.sentence ?? '';
}

/** Returns the service with this name. Throws if it does not exist. */
export function serviceOf({services}: Config, name: string): ServiceConfig {
	const service = services.get(name);
	if (!service) throw new Error(`The service ${name} does not exist.`);
	return service;
}

/** Converts URLs to strings and maps to lists, since `t.deepEqual` considers any two URLs equal. */
export const comparable = (value: unknown): unknown => {
	if (value instanceof URL) return value.href;
	if (value instanceof Map) return [...value].map(comparable);
	if (Array.isArray(value)) return value.map(comparable);
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, comparable(item)]));
};
