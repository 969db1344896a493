/** A question to the person at this process's terminal. */
import { createInterface } from 'node:readline/promises';

/** One line, without its end. Empty also where the input ends. */
export async function askAtTerminal(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new Promise<string>(resolve => terminal.once('close', () => resolve('')));
  try {
    return await Promise.race([terminal.question(question), ended]);
  } finally {
    terminal.close();
  }
}
