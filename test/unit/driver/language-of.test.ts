import { expect, test } from 'vitest';
import { gitDriver } from '../../../drivers/git/index.ts';
import { languageOf } from '../../../src/driver/language-of.ts';

test('a connection that says how changes land is taken at its word', () => {
  const language = languageOf(gitDriver, { landsBy: 'api' });
  expect(language.landingMode({ merge: true })).toBe('api');
  expect(languageOf(gitDriver, {}).landingMode({ merge: true })).toBe('push');
});

test('a reporter that only reports lands nothing, however the connection lands', () => {
  expect(languageOf(gitDriver, { landsBy: 'api' }).landingMode({ merge: false })).toBeNull();
});

test('a connection that only reads has the smaller language', () => {
  expect(languageOf(gitDriver, { readOnly: true })).toBe(gitDriver.readOnlyConfig);
});
