/** Lines with a banned word that a room may still have (`plain-words.test.ts`). Lower a bound when you remove some; never raise one. */
export const ALLOWED_LINES: Readonly<Record<string, number>> = {
  'src/executor': 1,
  'src/store': 1,
  'test/unit/drivers': 1,
};
