/** The members of a JSON value that is an object, and none of anything else. */
export const members = (value: unknown): {readonly [key: string]: unknown} =>
	typeof value === 'object' && value !== null && !Array.isArray(value)
		? (value as {readonly [key: string]: unknown})
		: {};

/** One parameter of a tool. */
export type Parameter = {readonly name: string; readonly schema: unknown; readonly isRequired: boolean};

/** The parameters of a tool in the order in which arguments without a name fill them: what is required comes first. */
export function parameters(inputSchema: unknown): Parameter[] {
	const {properties, required} = members(inputSchema);
	const needed = new Set(Array.isArray(required) ? required : []);
	const all = Object.entries(members(properties)).map(([name, schema]) => ({
		name,
		schema,
		isRequired: needed.has(name),
	}));
	return [...all.filter(({isRequired}) => isRequired), ...all.filter(({isRequired}) => !isRequired)];
}
