/** The operators' guide speaks of log lines, commands, settings and numbers that are there. */
import { describe, expect, test } from 'vitest';
import { codeSpans, filesBelow, sectionOf, textOf } from './repository-text.ts';

const GUIDE = textOf('doc/guide/operations.md');
const SOURCES = filesBelow('src', '.ts').map(textOf).join('\n');

/** First column of a table's rows. */
function firstColumn(section: string): readonly string[] {
  return [...section.matchAll(/^\| `([^`]+)` \| (?:warn|error|info|debug) \|/gm)].map(
    ([, text = '']) => text,
  );
}

describe('the guide for operators', () => {
  test('quotes log lines as they are written', () => {
    const lines = firstColumn(sectionOf(GUIDE, 'Watching it'));
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) {
      // `…` stands for a name.
      for (const part of line
        .split('…')
        .map(each => each.trim())
        .filter(each => each.length > 2))
        expect(SOURCES.includes(part), `${line}: ${part}`).toBe(true);
    }
  });

  test('names commands that the program has', () => {
    const commands = [...codeSpans(GUIDE)].flatMap(span => /^gatehouse ([a-z-]+)/.exec(span)?.[1] ?? []);
    expect(commands.length).toBeGreaterThan(4);
    for (const command of commands) {
      const isThere = SOURCES.includes(`.command('${command}')`) || SOURCES.includes(`command: '${command}'`);
      expect(isThere, command).toBe(true);
    }
  });

  test('names settings that there are', () => {
    const settings = textOf('doc/reference/settings.md');
    const names = [...codeSpans(GUIDE)].filter(span => /^[a-z]+(_[a-z]+)+$/.test(span));
    expect(names.length).toBeGreaterThan(8);
    for (const name of names) expect(settings, name).toContain(`\`${name}\``);
  });

  test('gives the times that the program keeps', () => {
    expect(textOf('src/settings/zookeeper-section.ts')).toContain('session_timeout');
    expect(textOf('src/scheduler/report/report-loop.ts')).toContain('LONGEST_NOTE_HOURS = 24');
    expect(GUIDE).toContain('24 hours');
    expect(textOf('src/scheduler/loop.ts')).toContain('15_000');
    expect(textOf('src/cmd/service/deliveries.ts')).toContain('SEND_GRACE = 2_000');
  });
});
