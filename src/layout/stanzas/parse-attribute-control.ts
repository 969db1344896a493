/** `attribute-control` of a job: which of its attributes nothing may set after it. And the tags that say how one joins what was there. */
import { type MappingReader, mappingReader } from '../reading/mapping-reader.ts';
import type { ParseContext } from '../reading/parse-context.ts';
import type { AttributeControls } from './stanzas.ts';

/** The attributes that Zuul can make final one by one. */
const CONTROLLED = [
  ...['requires', 'provides', 'tags', 'files', 'irrelevant-files', 'required-projects', 'vars', 'extra-vars'],
  ...['host-vars', 'group-vars', 'include-vars', 'dependencies', 'failure-output'],
];

/** @returns names of attributes. */
export function parseAttributeControl(
  read: MappingReader,
  subject: string,
  context: ParseContext,
): readonly string[] | undefined {
  const value = read.mapping('attribute-control');
  if (value === undefined) return undefined;
  const controls = mappingReader(value, `attribute-control of ${subject}`, context);
  const final = CONTROLLED.filter(key => {
    const one = controls.mapping(key);
    if (one === undefined) return false;
    const control = mappingReader(one, `${key} in attribute-control of ${subject}`, context);
    const isFinal = control.boolean('final');
    control.finish();
    if (isFinal !== true) {
      const text = `${key} in attribute-control of ${subject} takes "final: true" alone; write that, or remove it`;
      context.problem({ offset: one.offset, code: 'invalid-value', text });
    }
    return isFinal === true;
  });
  controls.finish();
  return final;
}

/** `!override` and `!inherit` at the values of these attributes, by the attribute's name. */
export function parseControls(read: MappingReader, context: ParseContext): AttributeControls | undefined {
  const controls: { [key: string]: 'override' | 'inherit' } = {};
  for (const key of CONTROLLED) {
    const control = read.has(key) ? read.node(key)?.control : undefined;
    if (control === undefined) continue;
    context.allowsControl?.(control.offset);
    controls[key] = control.tag;
  }
  return Object.keys(controls).length === 0 ? undefined : controls;
}
