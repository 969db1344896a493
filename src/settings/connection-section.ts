import type { OptionProblem, OptionSection } from '../lib/option-reader.ts';
import type { ConnectionSection } from './settings.ts';

type ParsedConnection =
  | { readonly kind: 'connection'; readonly connection: ConnectionSection }
  | { readonly kind: 'invalid'; readonly problem: OptionProblem };

/** Pipelines know them without a section. */
const BUILT_IN: ReadonlySet<string> = new Set(['timer', 'zuul']);

/**
 * A `[connection NAME]` section. NAME appears in URLs and reports, so it keeps to letters, digits, `.`, `_` and `-`.
 *
 * @param others connections read before, to refuse two of one name.
 */
export function parseConnection(
  section: OptionSection,
  others: ReadonlyMap<string, ConnectionSection>,
): ParsedConnection {
  const refuse = (reason: string, at = section.at, option?: string): ParsedConnection => ({
    kind: 'invalid',
    problem: { at, section: section.name, reason, ...(option === undefined ? {} : { option }) },
  });
  const name = section.name.replace(/^connection\s*/, '');
  if (name === '') return refuse('lacks a name; write [connection NAME]');
  if (!/^[\w.-]+$/.test(name)) return refuse(`"${name}" is not a name of letters, digits, ".", "_" and "-"`);
  if (BUILT_IN.has(name)) return refuse(`"${name}" is the name of a connection that is always there`);
  const other = others.get(name);
  if (other !== undefined) return refuse(`connection is there twice, first at line ${other.at.line}`);
  const driver = section.options.get('driver');
  if (driver === undefined) return refuse('is required and missing', section.at, 'driver');
  if (!/^[a-z][a-z0-9_-]*$/.test(driver.value)) {
    return refuse(`"${driver.value}" is not the name of a driver, such as git`, driver.at, 'driver');
  }
  const options = new Map([...section.options].filter(([option]) => option !== 'driver'));
  return {
    kind: 'connection',
    connection: { ...section, connection: name, driver: driver.value, options },
  };
}
