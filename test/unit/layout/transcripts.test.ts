import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseTranscript, printTranscript, replay } from './transcript.ts';

const DIRECTORY = new URL('./transcripts/', import.meta.url);

for (const name of readdirSync(DIRECTORY)) {
  const file = new URL(name, DIRECTORY);
  const cases = parseTranscript(readFileSync(file, 'utf8'));
  if (process.env.UPDATE_TRANSCRIPTS === '1') writeFileSync(file, printTranscript(cases.map(replay)));
  describe(name, () => {
    it.each(cases)('$title', given => {
      expect(printTranscript([replay(given)])).toBe(printTranscript([given]));
    });
  });
}
