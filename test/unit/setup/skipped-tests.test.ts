import { describe, expect, test } from 'vitest';
import { absent, declined, ON_BUBBLEWRAP, ON_CHROMIUM } from '../../setup/provided.ts';
import { type MissingTool, reportSkips } from '../../setup/skipped-tests.ts';

const CHROMIUM: MissingTool = {
  what: 'Chromium',
  mark: ON_CHROMIUM,
  wanted: true,
  absent: absent('no /usr/bin/chromium'),
};
const BUBBLEWRAP: MissingTool = {
  what: 'bubblewrap',
  mark: ON_BUBBLEWRAP,
  wanted: true,
  absent: declined('GATEHOUSE_TEST_BUBBLEWRAP'),
};
const WALL = `walls ${ON_BUBBLEWRAP} > hold`;
const PAGE = `the page ${ON_CHROMIUM} > opens`;

describe('tests that were skipped', () => {
  test('fail the run where every tool can be had, and are named', () => {
    const { lines, failed } = reportSkips({ names: [PAGE, 'other'], missing: [CHROMIUM], strict: true });
    expect(failed).toBe(true);
    expect(lines).toEqual([
      'Chromium: none (no /usr/bin/chromium), 1 tests skipped',
      'FAILED: 2 tests were skipped, and this machine (root on Debian) can run all of them:',
      `  ${PAGE}`,
      '  other',
    ]);
  });

  test('are counted elsewhere', () => {
    const { lines, failed } = reportSkips({ names: [PAGE, 'other'], missing: [CHROMIUM], strict: false });
    expect(failed).toBe(false);
    expect(lines).toEqual([
      'Chromium: none (no /usr/bin/chromium), 1 tests skipped',
      'skipped: 2 tests in all',
    ]);
  });

  test('are excused by the tool the run declined, and by no other', () => {
    const missing = [BUBBLEWRAP, CHROMIUM];
    expect(reportSkips({ names: [WALL], missing, strict: true }).failed).toBe(false);
    expect(reportSkips({ names: [WALL, PAGE], missing, strict: true })).toMatchObject({
      failed: true,
      lines: expect.not.arrayContaining([`  ${WALL}`]),
    });
  });

  test('are not mentioned when there are none', () => {
    const unwanted = { ...CHROMIUM, wanted: false };
    expect(reportSkips({ names: [], missing: [unwanted], strict: true })).toEqual({
      lines: [],
      failed: false,
    });
  });

  test('are named up to a limit', () => {
    const names = Array.from({ length: 25 }, (_, index) => `test ${index}`);
    expect(reportSkips({ names, missing: [], strict: true }).lines.at(-1)).toBe('  and 5 more');
  });
});
