import { expect, test } from 'vitest';
import type { ConfigError } from '../../../src/model/config-error.ts';
import { notBuiltText } from '../../../src/model/not-built.ts';
import { APP, proposedChange } from '../../fake/queue-item.ts';

const CHANGE = proposedChange('login');

function mistake(line: number, severity: ConfigError['severity'] = 'error'): ConfigError {
  return {
    severity,
    project: APP,
    branch: 'master',
    file: '.zuul.yaml',
    line,
    column: 3,
    code: 'unknown-key',
    text: 'unknown key "tiemout"',
  };
}

test('a buildset whose jobs ran has no such reason, for all its warnings', () => {
  expect(notBuiltText({ conflict: null, configErrors: [mistake(1, 'warning')] }, [CHANGE])).toBeUndefined();
});

test('the first mistake stands for all, with their number', () => {
  const text = notBuiltText(
    { conflict: null, configErrors: [mistake(4), mistake(9), mistake(2, 'warning')] },
    [CHANGE],
  );
  expect(text).toBe('local/acme/app@master:.zuul.yaml:4:3: unknown key "tiemout" (and 1 more)');
});

test('a conflict comes before mistakes: it was found first', () => {
  const conflict = { change: CHANGE.key, project: APP, files: ['a.txt'] };
  expect(notBuiltText({ conflict, configErrors: [mistake(4)] }, [CHANGE])).toContain('it conflicts with');
});
