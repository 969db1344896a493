import path from 'node:path';
import type { Source } from './sources.ts';

/** Pages of one kind. */
interface Group {
  readonly title: string;
  readonly pages: readonly { readonly source: Source; readonly label: string }[];
}

const LINK = /\[([^\]]+)\]\(([^)#\s]+)\)/g;

/**
 * The groups of doc/README.md: its headings, and below each the pages that it links to as a whole (`a.md`, not `a.md#b`). Where several sections
 * do, the page is in the last one, which is the one of its kind: a how-to may lead to a reference, not the other way.
 */
export function navigation(sources: ReadonlyMap<string, Source>): readonly Group[] {
  const overview = sources.get('doc/README.md');
  if (overview === undefined) throw new Error('doc/README.md is missing');
  const sections = overview.markdown.split(/^## /m).slice(1);
  const places = new Map<Source, { readonly section: number; readonly label: string }>();
  for (const [section, text] of sections.entries())
    for (const [, label = '', to = ''] of text.matchAll(LINK)) {
      const source = sources.get(path.posix.join('doc', to));
      if (source !== undefined) places.set(source, { section, label: capitalized(label) });
    }
  return sections.map((text, section) => ({
    title: (text.split('\n', 1)[0] ?? '').replace(/^.*: /, ''),
    pages: [...places].flatMap(([source, place]) =>
      place.section === section ? [{ source, label: place.label }] : [],
    ),
  }));
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
