import {existsSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {realPath} from '../config/find.js';
import type {Parsed} from '../config/json-with-comments.js';
import {MAX_VALUES, parseText} from '../config/parse.js';
import {PathMap} from '../config/path-map.js';
import {isTable, tableOf} from './kind.js';

/**
 * Parses the state of Claude Code. It may be far longer than a configuration, since it has the history of each project.
 * Only the servers of the user and of these projects are kept, and of all else the top-level keys.
 */
export function parseClaudeState(text: string, projects: readonly string[]): Parsed {
	let state: unknown;
	try {
		state = JSON.parse(text);
	} catch {
		return parseText(text, '.json', MAX_VALUES);
	}
	if (!isTable(state)) return parseText(text, '.json', MAX_VALUES);
	const names = Object.entries(state).map(([key, value]) => [key, key === 'mcpServers' ? value : null]);
	const ofProjects = isTable(state.projects) ? {projects: projectsOf(state.projects, projects)} : {};
	const kept = {...Object.fromEntries(names), ...ofProjects};
	// Line numbers would be those of the shorter text.
	return {...parseText(JSON.stringify(kept), '.json', MAX_VALUES), lines: new PathMap()};
}

const projectsOf = (given: unknown, paths: readonly string[]) =>
	Object.fromEntries(
		paths
			.filter(path => Object.hasOwn(tableOf(given), path))
			.map(path => {
				const {mcpServers, disabledMcpServers} = tableOf(tableOf(given)[path]);
				return [path, {mcpServers, disabledMcpServers}];
			}),
	);

/** The keys that Claude Code may have a project under: the working directory, and the root of its repository. */
export function projectPaths(cwd: string): string[] {
	const paths = new Set([cwd, realPath(cwd)]);
	let folder = realPath(cwd);
	while (!existsSync(join(folder, '.git')) && dirname(folder) !== folder) folder = dirname(folder);
	if (existsSync(join(folder, '.git'))) paths.add(folder);
	return [...paths];
}
