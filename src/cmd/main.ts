/** The command line: `commands/program.ts` on the streams and signals of this process. */
import { systemClock } from '../lib/clock.ts';
import { runProgram } from './commands/program.ts';
import { askAtTerminal } from './terminal/ask.ts';

// A reader that closes the pipe early (`gatehouse status | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await runProgram(process.argv.slice(2), {
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: () => process.stdin,
  ...(process.stdin.isTTY && process.stdout.isTTY ? { ask: askAtTerminal } : {}),
  environment: process.env,
  clock: systemClock(),
  interrupted: () => {
    const stop = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());
    return stop.signal;
  },
});
