/** Lines with a banned word that a room may still have (`plain-words.test.ts`). Lower a bound when you remove some; never raise one. */
export const ALLOWED_LINES: Readonly<Record<string, number>> = {
  'src/executor': 1,
  'src/model': 51,
  'src/store': 1,
  'test/e2e': 1,
  'test/golden': 2,
  'test/scenario': 2,
  'test/unit/cmd': 70,
  'test/unit/executor': 88,
  'test/unit/model': 3,
  'test/unit/store': 75,
  'test/unit/web': 49,
};
