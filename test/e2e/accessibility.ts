/** What axe finds wrong on a page in a browser. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

interface AxeOptions {
  /** The rules to look at; default: all. */
  readonly runOnly?: readonly string[];
  /** Reads the stylesheets for the rule about locked orientations, for a third of the time. All pages have the same: one test asks for it. */
  readonly preload?: boolean;
}

/** @returns a line for each rule that is broken. */
export async function axeFindings(page: Page, options: AxeOptions = {}): Promise<readonly string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axeSource());
  const all = JSON.stringify({ preload: false, resultTypes: ['violations'], ...options });
  return page.evaluate(`axe.run(${all}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(node => node.html.slice(0, 100)).join(' | ')))`);
}

function axeSource(): string {
  return readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
}
