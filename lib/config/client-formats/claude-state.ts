import {existsSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {resolveRealPath} from '../find-file.js';
import type {ParsedText} from '../json-with-comments.js';
import {MAX_CONFIG_VALUES, parseConfigText} from '../parse-text.js';
import {PathMap} from '../path-map.js';
import {asTable, isTable} from './client-format.js';

/**
 * Parses the state file of Claude Code. It can be much larger than a configuration, since it contains the
 * history of each project. Keeps the user's servers, those of `projects`, and the names of the other
 * top-level keys.
 */
export function parseClaudeState(text: string, projects: readonly string[]): ParsedText {
	let state: unknown;
	try {
		state = JSON.parse(text);
	} catch {
		return parseConfigText(text, '.json', MAX_CONFIG_VALUES);
	}
	if (!isTable(state)) return parseConfigText(text, '.json', MAX_CONFIG_VALUES);
	const names = Object.entries(state).map(([key, value]) => [key, key === 'mcpServers' ? value : null]);
	const ofProjects = isTable(state.projects) ? {projects: pickProjects(state.projects, projects)} : {};
	const pruned = {...Object.fromEntries(names), ...ofProjects};
	// Line numbers would refer to the pruned text, not to the file.
	return {...parseConfigText(JSON.stringify(pruned), '.json', MAX_CONFIG_VALUES), lines: new PathMap()};
}

const pickProjects = (projects: unknown, paths: readonly string[]) =>
	Object.fromEntries(
		paths
			.filter(path => Object.hasOwn(asTable(projects), path))
			.map(path => {
				const {mcpServers, disabledMcpServers} = asTable(asTable(projects)[path]);
				return [path, {mcpServers, disabledMcpServers}];
			}),
	);

/**
 * The keys under which Claude Code may store a project: the working directory and the root of its repository.
 */
export function projectPaths(cwd: string): string[] {
	const paths = new Set([cwd, resolveRealPath(cwd)]);
	let folder = resolveRealPath(cwd);
	while (!existsSync(join(folder, '.git')) && dirname(folder) !== folder) folder = dirname(folder);
	if (existsSync(join(folder, '.git'))) paths.add(folder);
	return [...paths];
}
