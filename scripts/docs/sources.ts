import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** One Markdown file. */
export interface Source {
  /** Path in the repository. */
  readonly file: string;
  /** Path in the site. */
  readonly page: string;
  readonly markdown: string;
  /** Of its first heading, as Markdown. */
  readonly title: string;
}

const DECISIONS = 'doc/decisions/';
/** Files beside `doc/`, with their places in the site. */
const BESIDE = new Map([
  ['README.md', 'index.html'],
  ['CHANGELOG.md', 'changelog.html'],
  ['CONTRIBUTING.md', 'contributing.html'],
]);

/** All of them, by their file; the list of decisions, which has no file, is among them. */
export function readSources(root: string): ReadonlyMap<string, Source> {
  const below = readdirSync(path.join(root, 'doc'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.md'))
    .map(file => `doc/${file}`)
    .toSorted();
  const sources = [...BESIDE.keys(), ...below].map(file => {
    const markdown = readFileSync(path.join(root, file), 'utf8');
    return { file, page: pageOf(file), markdown, title: /^# (.+)$/m.exec(markdown)?.[1] ?? file };
  });
  return new Map([...sources, decisionList(sources)].map(source => [source.file, source]));
}

/** Whether a page is one of the decisions, of which there are many. */
export function isDecision({ file }: Pick<Source, 'file'>): boolean {
  return file.startsWith(DECISIONS) && file !== DECISIONS;
}

function pageOf(file: string): string {
  const beside = BESIDE.get(file);
  if (beside !== undefined) return beside;
  if (file === 'doc/README.md') return 'documentation.html';
  return file.replace(/^doc\//, '').replace(/\.md$/, '.html');
}

/** Newest first. */
function decisionList(sources: readonly Source[]): Source {
  const lines = sources
    .filter(isDecision)
    .toReversed()
    .map(({ file, title }) => `- [${title}](${path.basename(file)})`);
  const markdown = `# Decisions\n\nEach choice that could be questioned, with what was rejected. The newest is first.\n\n${lines.join('\n')}\n`;
  return { file: DECISIONS, page: 'decisions/index.html', markdown, title: 'Decisions' };
}
