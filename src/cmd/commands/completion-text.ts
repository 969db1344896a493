/** Completion for shells, made of the table of commands. Pure. */
import type { CommandRow, OptionRow } from './command-table.ts';

/** Those with a script. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** A script for the shell to source. */
export function completionText(shell: Shell, rows: readonly CommandRow[]): string {
  switch (shell) {
    case 'bash':
      return bashText(rows);
    case 'zsh':
      return zshText(rows);
    case 'fish':
      return fishText(rows);
  }
}

/** Names of values that are files or directories. */
const FILES = /^[<[](?:\w+-)?(?:file|dir|directory|path|checkout|zuul\.conf)[\]>.]/;

function flagsOf({ long, short }: OptionRow): readonly string[] {
  return [long, short].flatMap(flag => (flag === undefined ? [] : [flag]));
}

function key(row: CommandRow): string {
  return row.path.join(' ');
}

/** Lines of `case "$1" in`: the words for each command that has some. */
function cases(rows: readonly CommandRow[], wordsOf: (row: CommandRow) => readonly string[]): string {
  return rows
    .flatMap(row => {
      const words = wordsOf(row);
      return words.length === 0 ? [] : [`    ${quoted(key(row))}) echo ${quoted(words.join(' '))} ;;`];
    })
    .join('\n');
}

/** For POSIX shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** What the functions of bash and zsh share: the words, options and values of a command. */
function tables(rows: readonly CommandRow[]): string {
  const withValue = (row: CommandRow) => row.options.filter(({ value }) => value !== undefined);
  const ofFiles = (row: CommandRow) => withValue(row).filter(({ value = '' }) => FILES.test(`${value} `));
  const chosen = rows.flatMap(row =>
    withValue(row).flatMap(option =>
      option.choices.length === 0
        ? []
        : flagsOf(option).map(
            flag => `    ${quoted(`${key(row)} ${flag}`)}) echo ${quoted(option.choices.join(' '))} ;;`,
          ),
    ),
  );
  return `_gatehouse_commands() {
  case "$1" in
${cases(rows, row => row.commands)}
  esac
}
_gatehouse_words() {
  case "$1" in
${cases(rows, row => [...row.commands, ...row.words])}
  esac
}
_gatehouse_options() {
  case "$1" in
${cases(rows, row => row.options.flatMap(flagsOf))}
  esac
}
_gatehouse_valued() {
  case "$1" in
${cases(rows, row => withValue(row).flatMap(flagsOf))}
  esac
}
_gatehouse_files() {
  case "$1" in
${cases(rows, row => ofFiles(row).flatMap(flagsOf))}
  esac
}
_gatehouse_takes_files() {
  case "$1" in
${rows.flatMap(row => (FILES.test(`${row.usage} `) ? [`    ${quoted(key(row))}) return 0 ;;`] : [])).join('\n')}
  esac
  return 1
}
_gatehouse_choices() {
  case "$1" in
${chosen.join('\n')}
  esac
}`;
}

function bashText(rows: readonly CommandRow[]): string {
  return `# Completion of gatehouse for bash: source <(gatehouse completion bash)
${tables(rows)}
_gatehouse() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    [[ " $(_gatehouse_commands "$at") " == *" $word "* ]] && at="\${at:+$at }$word"
  done
  COMPREPLY=()
  if [[ " $(_gatehouse_valued "$at") " == *" $prev "* ]]; then
    local choices="$(_gatehouse_choices "$at $prev")"
    if [[ -n $choices ]]; then COMPREPLY=($(compgen -W "$choices" -- "$cur"))
    elif [[ " $(_gatehouse_files "$at") " == *" $prev "* ]]; then
      compopt -o filenames 2>/dev/null
      COMPREPLY=($(compgen -f -- "$cur"))
    fi
  elif [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$(_gatehouse_options "$at")" -- "$cur"))
  elif [[ -n "$(_gatehouse_words "$at")" ]]; then COMPREPLY=($(compgen -W "$(_gatehouse_words "$at")" -- "$cur"))
  elif _gatehouse_takes_files "$at"; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -F _gatehouse gatehouse
`;
}

function zshText(rows: readonly CommandRow[]): string {
  return `#compdef gatehouse
# Completion of gatehouse for zsh: gatehouse completion zsh >"\${fpath[1]}/_gatehouse"
${tables(rows)}
_gatehouse() {
  local at='' word prev="\${words[CURRENT-1]}" i
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    [[ " $(_gatehouse_commands "$at") " == *" $word "* ]] && at="\${at:+$at }$word"
  done
  if [[ " $(_gatehouse_valued "$at") " == *" $prev "* ]]; then
    local choices="$(_gatehouse_choices "$at $prev")"
    if [[ -n $choices ]]; then compadd -- \${=choices}
    elif [[ " $(_gatehouse_files "$at") " == *" $prev "* ]]; then _files
    fi
  elif [[ \${words[CURRENT]} == -* ]]; then compadd -- \${=$(_gatehouse_options "$at")}
  elif [[ -n "$(_gatehouse_words "$at")" ]]; then compadd -- \${=$(_gatehouse_words "$at")}
  elif _gatehouse_takes_files "$at"; then _files
  fi
}
if [[ \${funcstack[1]:-} == _gatehouse ]]; then _gatehouse "$@"; else compdef _gatehouse gatehouse; fi
`;
}

function fishText(rows: readonly CommandRow[]): string {
  const lines = rows.flatMap(row => {
    const here = condition(row);
    const ofCommand = (name: string) => rows.find(each => key(each) === [...row.path, name].join(' '));
    return [
      ...row.commands.map(
        name => `complete -c gatehouse -n ${here} -f -a ${name} -d ${quoted(ofCommand(name)?.summary ?? '')}`,
      ),
      ...row.words.map(word => `complete -c gatehouse -n ${here} -f -a ${quoted(word)}`),
      ...row.options.map(option => `complete -c gatehouse -n ${here}${fishOption(option)}`),
    ];
  });
  return `# Completion of gatehouse for fish: gatehouse completion fish >~/.config/fish/completions/gatehouse.fish
${lines.join('\n')}
`;
}

/** Where the words so far are those of the command and of none below it. */
function condition({ path, commands }: CommandRow): string {
  const seen = path.map(name => `__fish_seen_subcommand_from ${name}`);
  const not = commands.length === 0 ? [] : [`not __fish_seen_subcommand_from ${commands.join(' ')}`];
  return quoted([...seen, ...not].join('; and ') || 'true');
}

function fishOption({ long, short, value, choices, description }: OptionRow): string {
  const words = [
    ...(long === undefined ? [] : [`-l ${long.replace(/^--/, '')}`]),
    ...(short === undefined ? [] : [`-s ${short.replace(/^-/, '')}`]),
    ...(value === undefined ? [] : [FILES.test(`${value} `) ? '-r -F' : '-x']),
    ...(choices.length === 0 ? [] : [`-a ${quoted(choices.join(' '))}`]),
    `-d ${quoted(description)}`,
  ];
  return ` ${words.join(' ')}`;
}
