import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {ExecutionContext} from 'ava';
import type {EnvironmentVariables} from '../../lib/config/expand-variables.js';
import {type LoadedConfig, loadConfigFile} from '../../lib/config/load-config.js';
import type {Config, ServiceConfig} from '../../lib/config/schema.js';
import {BridgeError} from '../../lib/core/errors.js';
import {newFolder} from '../helpers/program.js';

/** The path of a file under fixtures/config, as it stands in the sources. */
export const configFixture = (name: string): string =>
	fileURLToPath(new URL(`../../../fixtures/config/${name}`, import.meta.url));

/** Whether a warning is about what a file holds, and not about who can write to it: a clone may belong to any user. */
export const isAboutContent = (warning: string): boolean => !warning.includes('other users can run programs');

/** Writes a file into a folder of its own. */
export async function written(t: ExecutionContext, name: string, text: string | Uint8Array): Promise<string> {
	const file = join(await newFolder(t), name);
	await writeFile(file, text, {mode: 0o600});
	return file;
}

/** Loads a text as the file with this name. */
export async function loaded(
	t: ExecutionContext,
	text: string,
	{name = 'bridge.yaml', environment = {}}: {name?: string; environment?: EnvironmentVariables} = {},
): Promise<LoadedConfig> {
	return loadConfigFile(await written(t, name, text), environment);
}

/** What the error says that loading this text ends in. */
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

/** The service with this name, which there has to be. */
export function serviceOf({services}: Config, name: string): ServiceConfig {
	const service = services.get(name);
	if (!service) throw new Error(`There is no service ${name}.`);
	return service;
}

/** The same with URLs as text and maps as lists, since `t.deepEqual` takes any two URLs for equal. */
export const comparable = (value: unknown): unknown => {
	if (value instanceof URL) return value.href;
	if (value instanceof Map) return [...value].map(comparable);
	if (Array.isArray(value)) return value.map(comparable);
	if (typeof value !== 'object' || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, comparable(item)]));
};
