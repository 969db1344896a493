/**
 * Runs every `test/transcript/*.txt`: command lines, `----`, the whole output up to the next empty line. The output is
 * reviewed as a diff: `UPDATE_TRANSCRIPTS=1 vitest run test/unit/pipeline/transcript.test.ts` rewrites it.
 *
 * Every transcript is also checked against the invariants of the recorded history.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { violationsOf } from '../../invariants/history-checker.ts';
import { Script } from './commands.ts';

const folder = join(import.meta.dirname, '../../transcript');
const update = process.env.UPDATE_TRANSCRIPTS === '1';

interface Block {
  readonly lines: readonly string[];
  readonly output: string;
}

function parse(text: string): readonly Block[] {
  return text
    .trim()
    .split(/\n{2,}/)
    .map(block => {
      const lines = block.split('\n');
      const bar = lines.indexOf('----');
      return bar < 0
        ? { lines, output: '' }
        : { lines: lines.slice(0, bar), output: lines.slice(bar + 1).join('\n') };
    });
}

function format(blocks: readonly Block[]): string {
  return `${blocks.map(({ lines, output }) => (output === '' ? lines.join('\n') : [...lines, '----', output].join('\n'))).join('\n\n')}\n`;
}

describe('the transcripts', () => {
  for (const file of readdirSync(folder).filter(name => name.endsWith('.txt'))) {
    it(file.replace('.txt', ''), () => {
      const path = join(folder, file);
      const text = readFileSync(path, 'utf8');
      const script = new Script();
      const played = format(parse(text).map(({ lines }) => ({ lines, output: script.run(lines) })));
      for (const pipeline of script.world.pipelines.values())
        expect(violationsOf(pipeline.history)).toEqual([]);
      if (update) writeFileSync(path, played);
      else expect(played).toBe(text);
    });
  }
});
