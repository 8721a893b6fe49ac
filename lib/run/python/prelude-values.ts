/** Converts values for tools, which need exact JSON, and for people. Written in Python: see `prelude.ts`. */
export const valuesPrelude = String.raw`
def argument(value):
    """Converts a value to portable JSON, or raises an error."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        if not LEAST <= value <= GREATEST:
            raise ValueError(f'{value} has more than 64 bits. Pass it as text.')
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f'{value} is not a JSON number.')
        return value
    if isinstance(value, dict):
        return {key_of(key): argument(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [argument(item) for item in value]
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, enum.Enum):
        return argument(value.value)
    raise TypeError(f'A tool argument cannot be a {type(value).__name__}. Pass text, numbers, lists or dicts.')


def key_of(key):
    if key is None or isinstance(key, bool):
        return dumps(key)
    return key if isinstance(key, str) else str(key)


VIEWS = type({}.keys()), type({}.values()), type({}.items())
LAZY = (range, map, filter, zip, enumerate, reversed, types.GeneratorType, *VIEWS)


def to_json(value):
    """Converts a value to JSON, lossily if necessary."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, enum.Enum):
        return to_json(value.value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key_of(key): to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, collections.deque)) or isinstance(value, LAZY):
        return [to_json(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((to_json(item) for item in value), key=str)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if hasattr(type(value), '__dataclass_fields__'):
        return {name: to_json(getattr(value, name)) for name in type(value).__dataclass_fields__}
    return str(value)


def rendered(value):
    """Renders a value for people: text as it is, other values as JSON."""
    if isinstance(value, str):
        return {'kind': 'text', 'text': str(value)}
    try:
        text = dumps(to_json(value), ensure_ascii=False, separators=(',', ':'), allow_nan=False)
    except RecursionError:
        return {'kind': 'text', 'text': str(value)}
    return {'kind': 'json', 'text': re.sub('[\ud800-\udfff]', lambda half: f'\\u{ord(half[0]):04x}', text)}
`;
