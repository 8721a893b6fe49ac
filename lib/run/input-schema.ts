/** Returns the value itself if it is a JSON object, or an empty object. */
export const asObject = (value: unknown): {readonly [key: string]: unknown} =>
	typeof value === 'object' && value !== null && !Array.isArray(value)
		? (value as {readonly [key: string]: unknown})
		: {};

type InputParameter = {readonly name: string; readonly schema: unknown; readonly isRequired: boolean};

/**
 * The parameters of a tool in the order that positional arguments fill them: required parameters come first.
 */
export function inputParameters(inputSchema: unknown): InputParameter[] {
	const {properties, required} = asObject(inputSchema);
	const requiredNames = new Set(Array.isArray(required) ? required : []);
	const all = Object.entries(asObject(properties)).map(([name, schema]) => ({
		name,
		schema,
		isRequired: requiredNames.has(name),
	}));
	return [...all.filter(({isRequired}) => isRequired), ...all.filter(({isRequired}) => !isRequired)];
}
