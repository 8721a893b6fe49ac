import type {ListedCommand} from '../../shared/cli/command.js';
import {flagName, type Option, type Options} from '../../shared/cli/option.js';
import {commonOptions} from '../../shared/cli/options.js';

export const shells = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof shells)[number];

const programs = ['bridge', 'mcp-bridge'];

/** The completions after a command. `name` is empty before a command is typed. */
type CompletionContext = {
	readonly name: string;
	readonly summary: string;
	readonly flags: ReadonlyArray<readonly [flag: string, option: Option]>;
	/** The choices for the first positional argument. */
	readonly firstChoices: readonly string[];
};

export const completionScripts: {readonly [shell in Shell]: (all: readonly ListedCommand[]) => string} = {
	bash: all => bash(contextsOf(all)),
	zsh: all => zsh(contextsOf(all)),
	fish: all => fish(contextsOf(all)),
};

function contextsOf(all: readonly ListedCommand[]): readonly CompletionContext[] {
	const commands = all.filter(({group}) => group !== undefined);
	const names = commands.map(({name}) => name);
	const modes = all.filter(({group}) => group === undefined);
	const front = Object.fromEntries(modes.flatMap(({command}) => Object.entries(command.options)));
	const rest = commands.map(
		({name, command: {summary, options, firstChoices: firstWords = []}}): CompletionContext => ({
			name,
			summary,
			flags: flagsOf(options),
			firstChoices: name === 'help' ? names : firstWords,
		}),
	);
	return [{name: '', summary: '', flags: flagsOf(front), firstChoices: names}, ...rest];
}

const flagsOf = (options: Options): CompletionContext['flags'] =>
	Object.entries({...options, ...commonOptions}).map(([key, option]) => [`--${flagName(key)}`, option]);

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';
const takesFile = ({value = ''}: Option): boolean => /^(?:FILE|DIR)$/.test(value);
/** Quotes a text with single quotes, in the syntax of bash, zsh and fish. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** The lines of a case statement that completes flag values, by `COMMAND:FLAG`. */
const valueCases = (
	contexts: readonly CompletionContext[],
	complete: (option: Option) => string | undefined,
): string[] =>
	contexts.flatMap(({name, flags}) =>
		flags.flatMap(([flag, option]) => {
			const action = option.value === undefined || option.isValueOptional ? undefined : complete(option);
			return action === undefined ? [] : [`\t\t${quoted(`${name}:${flag}`)}) ${action}; return ;;`];
		}),
	);

const namesOf = (contexts: readonly CompletionContext[]): string[] =>
	contexts.flatMap(({name}) => name || []);

function bash(contexts: readonly CompletionContext[]): string {
	const values = valueCases(contexts, ({choices}) =>
		choices ? `COMPREPLY=($(compgen -W ${quoted(choices.join(' '))} -- "$cur"))` : ':',
	);
	const words = contexts.map(
		({name, flags, firstChoices: words}) =>
			`\t\t${quoted(name)}) flags=${quoted(flags.map(([flag]) => flag).join(' '))}; words=${quoted(words.join(' '))} ;;`,
	);
	// Without a reply, the shell completes file names.
	return `# bash completion for bridge
_bridge() {
	local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} name='' flags='' words='' word
	COMPREPLY=()
	for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case $word in
		--) COMPREPLY=($(compgen -c -- "$cur")); return ;;
		${namesOf(contexts).join('|')}) name=\${name:-$word} ;;
		esac
	done
	case $name:$prev in
${values.join('\n')}
	esac
	case $name in
${words.join('\n')}
	esac
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$flags" -- "$cur"))
	elif [[ -z $name || $prev == "$name" ]]; then
		COMPREPLY=($(compgen -W "$words" -- "$cur"))
	fi
}
complete -o default -F _bridge ${programs.join(' ')}
`;
}

function zsh(contexts: readonly CompletionContext[]): string {
	const described = (word: string, summary: string): string =>
		quoted(`${word.replaceAll(':', '\\:')}:${firstLine(summary)}`);
	const values = valueCases(contexts, option => {
		if (option.choices) return `compadd -- ${option.choices.map(quoted).join(' ')}`;
		return takesFile(option) ? '_files' : '_message value';
	});
	const summaries = new Map(contexts.map(({name, summary}) => [name, summary]));
	const cases = contexts.map(({name, flags, firstChoices: words}) => {
		const shown = flags.map(([flag, {summary}]) => described(flag, summary));
		const named = words.map(word => described(word, summaries.get(word) ?? ''));
		return `\t\t${quoted(name)}) flags=(${shown.join(' ')}); first=(${named.join(' ')}) ;;`;
	});
	return `#compdef ${programs.join(' ')}
_bridge() {
	local name='' at word
	local -a flags first
	for ((at = 2; at < CURRENT; at++)); do
		word=$words[at]
		case $word in
		--) words=("\${(@)words[at+1,-1]}"); ((CURRENT -= at)); _normal; return ;;
		${namesOf(contexts).join('|')}) name=\${name:-$word} ;;
		esac
	done
	case $name:$words[CURRENT-1] in
${values.join('\n')}
	esac
	case $name in
${cases.join('\n')}
	esac
	if [[ $words[CURRENT] == -* ]]; then
		_describe flag flags
	elif [[ -z $name || $words[CURRENT-1] == $name ]] && (( $#first )); then
		_describe word first
	else
		_files
	fi
}
compdef _bridge ${programs.join(' ')}
`;
}

function fish(contexts: readonly CompletionContext[]): string {
	const summaries = new Map(contexts.map(({name, summary}) => [name, summary]));
	const lines = contexts.flatMap(({name, flags, firstChoices: words}) => {
		const when = `-n ${quoted(`test "$(__bridge_name)" = "${name}"`)}`;
		const first = `-n ${quoted(`test "$(__bridge_first)" = "${name}"`)}`;
		return [
			...flags.map(
				([flag, option]) =>
					`${when} -l ${flag.slice(2)}${fishValue(option)} -d ${quoted(firstLine(option.summary))}`,
			),
			...words.map(word => `${first} -f -a ${quoted(word)} -d ${quoted(summaries.get(word) ?? '')}`),
		];
	});
	return `# fish completion for bridge
function __bridge_words
	commandline -xpc 2>/dev/null; or commandline -opc
end
function __bridge_name
	for word in (__bridge_words)[2..-1]
		if test "$word" = --
			echo --
			return
		end
		if contains -- $word ${namesOf(contexts).join(' ')}
			echo $word
			return
		end
	end
end
function __bridge_first
	set -l words (__bridge_words)
	set -l name (__bridge_name)
	if test -z "$name"; or test "$words[-1]" = "$name"
		echo $name
	else
		echo :
	end
end
${programs.flatMap(program => lines.map(line => `complete -c ${program} ${line}`)).join('\n')}
`;
}

function fishValue(option: Option): string {
	if (option.value === undefined || option.isValueOptional) return '';
	if (option.choices) return ` -x -a ${quoted(option.choices.join(' '))}`;
	return takesFile(option) ? ' -r -F' : ' -x';
}
