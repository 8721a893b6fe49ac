const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Lowercase names that Python defines. Capitalized names are treated as built-in, too. */
const builtIns = words(`
abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex copyright
credits delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help
hex id input int isinstance issubclass iter len license list locals map max memoryview min next object oct open ord pow
print property quit range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip
`);

/**
 * Methods and attributes of Python types for JSON values. They take precedence over a field of the same name.
 */
const valueMethods = words(`
append as_integer_ratio bit_count bit_length capitalize casefold center clear conjugate copy count denominator encode
endswith expandtabs extend find format format_map from_bytes fromhex fromkeys get hex imag index insert is_integer
isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper items join
keys ljust lower lstrip maketrans numerator partition pop popitem real remove removeprefix removesuffix replace reverse
rfind rindex rjust rpartition rsplit rstrip setdefault sort split splitlines startswith strip swapcase title to_bytes
translate update upper values zfill
`);

/** Whether Python may define this name without an assignment. */
export const isPythonBuiltIn = (name: string): boolean => /^([A-Z]|__)/.test(name) || builtIns.has(name);

/** Whether `.name` may be something other than a field of a result. */
export const isValueMethod = (name: string): boolean => name.startsWith('__') || valueMethods.has(name);
