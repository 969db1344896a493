/** Before the exit code, on the last line that `--commands` prints of a command. */
export const COMMAND_ENDED = 'ended with ';
