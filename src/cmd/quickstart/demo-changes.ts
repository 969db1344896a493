/**
 * The six changes that the demo's developers propose.
 *
 * Change 2 renames a function and its callers; change 3 adds a caller under the old name. Each passes alone and git merges them
 * without a conflict, but together they break: a gate exists for this. Change 5 edits the line that change 2 edits: a plain
 * conflict. All others should merge.
 */
import { API, APP, type DemoFile, textFile } from './demo-files.ts';

/** A proposal to `master`. */
export interface DemoChange {
  readonly project: string;
  /** Last part of its branch: `for/master/<topic>`. */
  readonly topic: string;
  readonly subject: string;
  readonly files: readonly DemoFile[];
  /** How it must end. */
  readonly expected: 'merged' | 'failed' | 'conflict';
}

/** In the order they are approved. All are based on the same commit of their project. */
export const DEMO_CHANGES: readonly DemoChange[] = [
  {
    project: APP,
    topic: 'greeting',
    subject: 'Greet the customer',
    files: [
      textFile('lib/greeting.sh', 'greeting() { echo "Good day, $1"; }'),
      textFile('tests/unit.d/greeting.sh', '. ./lib/greeting.sh', '[ "$(greeting Ada)" = "Good day, Ada" ]'),
    ],
    expected: 'merged',
  },
  {
    project: APP,
    topic: 'rename-total',
    subject: 'Call the sum of prices by its name',
    files: [
      textFile(
        'lib/price.sh',
        '# Prices are whole cents.',
        '# price_sum: the sum of its arguments',
        'price_sum() {',
        '  sum=0',
        '  for each in "$@"; do sum=$((sum + each)); done',
        '  echo "$sum"',
        '}',
      ),
      textFile('lib/basket.sh', '. ./lib/price.sh', 'basket_price() { price_sum "$@"; }'),
    ],
    expected: 'merged',
  },
  {
    project: APP,
    topic: 'discount',
    subject: 'Give regular customers a discount',
    files: [
      textFile(
        'lib/discount.sh',
        '. ./lib/price.sh',
        '# Ten percent off, rounded down.',
        'discounted() { echo $(($(total "$@") * 9 / 10)); }',
      ),
      textFile('tests/unit.d/discount.sh', '. ./lib/discount.sh', '[ "$(discounted 100 100)" = 180 ]'),
    ],
    expected: 'failed',
  },
  {
    project: API,
    topic: 'basket-route',
    subject: 'Serve the price of a basket',
    files: [textFile('routes.txt', 'GET /price', 'GET /health', 'POST /basket')],
    expected: 'merged',
  },
  {
    project: APP,
    topic: 'total-in-euros',
    subject: 'Say which currency a total is in',
    files: [
      textFile(
        'lib/price.sh',
        '# Prices are whole cents.',
        '# total: the sum of its arguments, in euro cents',
        'total() {',
        '  sum=0',
        '  for each in "$@"; do sum=$((sum + each)); done',
        '  echo "$sum"',
        '}',
      ),
    ],
    expected: 'conflict',
  },
  {
    project: API,
    topic: 'health-details',
    subject: 'Report health in detail',
    files: [textFile('doc/health.md', '# Health', '', '`GET /health` answers 200 while the service works.')],
    expected: 'merged',
  },
];
