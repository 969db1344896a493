/** The OpenAPI description: it names every route there is, and the check against it notices what is not as described. */
import { describe, expect, test } from 'vitest';
import { openApi } from '../../../src/api/openapi.ts';
import { contractOf } from '../../fake/contract.ts';
import { codeSpans, textOf } from '../docs/repository-text.ts';

const description = openApi('1.2.3', 'https://gate.example.org/ci');
const contract = contractOf(JSON.parse(JSON.stringify(description)));

describe('the OpenAPI description', () => {
  test('has exactly the routes of the reference, but for the page', () => {
    const table = textOf('doc/reference/http-api.md').split('\n## ')[0] ?? '';
    const listed = [...codeSpans(table)]
      .filter(span => /^(GET|POST|DELETE) /.test(span))
      .filter(span => !/^GET \/(|t\/.*|page\/.*|auth_callback)$/.test(span));
    expect([...contract.operations].sort()).toEqual(listed.sort());
  });

  test('says where the service is, and of which version', () => {
    expect(description).toMatchObject({
      openapi: '3.1.0',
      info: { version: '1.2.3' },
      servers: [{ url: 'https://gate.example.org/ci' }],
    });
  });

  test('gives each operation a name of its own', () => {
    const text = JSON.stringify(description);
    const names = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, name]) => name);
    expect(new Set(names).size).toBe(contract.operations.length);
  });

  test('describes each query parameter as requests are checked', () => {
    expect(description).toMatchObject({
      paths: {
        '/api/tenant/{tenant}/items': {
          get: {
            parameters: [
              { name: 'tenant', in: 'path', required: true },
              {
                name: 'limit',
                in: 'query',
                schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
              },
              { name: 'skip', in: 'query' },
            ],
          },
        },
      },
    });
  });
});

describe('an answer', () => {
  const answer = { method: 'GET', path: '/health/live', status: 200, type: 'application/json' };
  const alive = { status: 'alive', version: '1' };

  test.each([
    ['is as described', {}, alive, 0],
    ['lacks a member', {}, { status: 'alive' }, 1],
    ['has one more', {}, { ...alive, more: 1 }, 1],
    ['has another word', {}, { ...alive, status: 'well' }, 1],
    ['has another status', { status: 202 }, alive, 1],
    ['has another type', { type: 'text/html' }, alive, 1],
    ['is of no route', { path: '/api/nothing' }, alive, 1],
  ])('%s', (_name, more, body, problems) => {
    expect(contract.problems({ ...answer, ...more, text: JSON.stringify(body) })).toHaveLength(problems);
  });
});
