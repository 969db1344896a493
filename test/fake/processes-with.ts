/** Processes of this machine, by what their environment says. */
import { readdirSync, readFileSync } from 'node:fs';

/** Ids of the processes whose environment has this text. */
export function processesWith(text: string): readonly string[] {
  return readdirSync('/proc').filter(name => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/environ`, 'utf8').includes(text);
    } catch {
      return false; // it has ended
    }
  });
}
