/** The text of one configuration file → its items, each whole or broken. */

import { didYouMean, type HintBudget, hintBudget } from '../lib/nearest-name.ts';
import { type ItemContext, regexBudget } from './item-context.ts';
import { type BrokenItem, ITEM_KINDS, type ItemKind, type ParsedFile, type ParsedItem } from './items.ts';
import { parseJob } from './parse-job.ts';
import { parsePipeline } from './parse-pipeline.ts';
import { parseProject, parseTemplate } from './parse-project.ts';
import { parseNodeset, parseQueue } from './parse-small-items.ts';
import { parseYaml, type YamlDocument, type YamlProblem } from './yaml.ts';
import { describeNode, type YamlMapping, type YamlNode } from './yaml-node.ts';

/** Kinds Zuul has and we do not. */
const UNSUPPORTED = ['secret', 'semaphore', 'pragma', 'image', 'flavor', 'label', 'section', 'provider'];

export function parseFile(text: string): ParsedFile {
  const yaml = parseYaml(text);
  if (yaml.kind === 'invalid') {
    const { line, column, code } = yaml;
    return {
      items: [],
      problems: [{ offset: 0, code, text: yaml.text }],
      positionOf: () => ({ line, column }),
    };
  }
  const { root, positionOf } = yaml;
  if (root === undefined) return { items: [], problems: yaml.problems, positionOf };
  if (root.kind !== 'sequence') {
    const text = `the file is ${describeNode(root)}; it must be a list of items such as "- job:"`;
    return { items: [], problems: [{ offset: root.offset, code: 'wrong-type', text }], positionOf };
  }
  const problems: YamlProblem[] = [...problemsBefore(yaml, root.items[0])];
  const context: ItemContext = {
    regexes: regexBudget(),
    hints: hintBudget(),
    problem: problem => problems.push(problem),
  };
  const yamlProblems = problemsByItem(yaml, root.items);
  const items: ParsedItem[] = [];
  let mistakes = 0;
  for (const [index, node] of root.items.entries()) {
    const item = parseItem(node, yamlProblems[index] ?? [], context);
    items.push(item);
    if (item.kind === 'broken') mistakes += item.problems.length;
    if (mistakes + problems.length >= MAX_MISTAKES && index + 1 < root.items.length) {
      const text = `the file has more than ${MAX_MISTAKES} mistakes; what follows is not read`;
      problems.push({ offset: node.offset, code: 'too-many-mistakes', text });
      break;
    }
  }
  return { items, problems, positionOf };
}

/** More are of no use to a reader, and each costs time and memory wherever it is shown. */
const MAX_MISTAKES = 1000;

/** The YAML parser's problems between the start of each item and the start of the next. */
function problemsByItem(
  { problems }: YamlDocument,
  items: readonly YamlNode[],
): readonly (readonly YamlProblem[])[] {
  if (problems.length === 0) return [];
  const sorted = problems.toSorted((a, b) => a.offset - b.offset);
  let next = 0;
  while ((sorted[next]?.offset ?? FAR) < (items[0]?.offset ?? FAR)) next++;
  return items.map((_, index) => {
    const from = next;
    const end = items[index + 1]?.offset ?? FAR;
    while ((sorted[next]?.offset ?? FAR) < end) next++;
    return sorted.slice(from, next);
  });
}

const FAR = Number.POSITIVE_INFINITY;

function problemsBefore(yaml: YamlDocument, first: YamlNode | undefined): readonly YamlProblem[] {
  const end = first?.offset ?? Number.POSITIVE_INFINITY;
  return yaml.problems.filter(({ offset }) => offset < end);
}

function parseItem(item: YamlNode, yamlProblems: readonly YamlProblem[], file: ItemContext): ParsedItem {
  const broken = (problem: YamlProblem, of: BrokenItem['of'] = 'unknown'): BrokenItem => {
    return { kind: 'broken', of, offset: item.offset, name: undefined, problems: [problem] };
  };
  const [entry, second] = item.kind === 'mapping' ? [...item.entries] : [];
  if (entry === undefined || item.kind !== 'mapping') {
    const text = `an item is ${describeNode(item)}; it must be a mapping with one key such as "job:"`;
    return broken({ offset: item.offset, code: 'wrong-type', text });
  }
  const [key, { keyOffset, value }] = entry;
  const kind = ITEM_KINDS.find(known => known === key);
  if (second !== undefined) {
    const text = `an item has one key, but "${second[0]}" stands beside "${key}"; indent it below "${key}" or start it with "- "`;
    return broken({ offset: second[1].keyOffset, code: 'wrong-type', text }, kind);
  }
  if (kind === undefined) {
    const of = UNSUPPORTED.includes(key) ? 'unsupported' : 'unknown';
    return broken({ offset: keyOffset, ...unknownKind(key, file.hints) }, of);
  }
  if (value.kind !== 'mapping') {
    const text = `${kind} is ${describeNode(value)}; it must be a mapping`;
    return broken({ offset: value.offset, code: 'wrong-type', text }, kind);
  }
  return whole(kind, value, keyOffset, yamlProblems, file);
}

function unknownKind(key: string, hints: HintBudget): { readonly code: string; readonly text: string } {
  if (UNSUPPORTED.includes(key))
    return { code: 'not-supported', text: `"${key}" is not supported yet; remove it` };
  const hint = didYouMean(key, ITEM_KINDS, hints) || `; known here: ${ITEM_KINDS.join(', ')}`;
  return { code: 'unknown-key', text: `unknown item "${key}"${hint}` };
}

/** Parses one item; any problem that is no warning makes it broken as a whole. */
function whole(
  kind: ItemKind,
  value: YamlMapping,
  offset: number,
  yamlProblems: readonly YamlProblem[],
  file: ItemContext,
): ParsedItem {
  const problems: YamlProblem[] = [...yamlProblems];
  const item = parserOf(kind)(value, offset, {
    ...file,
    problem: problem => (problem.severity === 'warning' ? file.problem(problem) : problems.push(problem)),
  });
  const [first, ...rest] = problems.toSorted((a, b) => a.offset - b.offset);
  if (item !== undefined && first === undefined) return item;
  const nameNode = value.entries.get('name')?.value;
  const name = nameNode?.kind === 'scalar' && nameNode.text !== '' ? nameNode.text : undefined;
  const branches = item?.kind === 'job' ? item.branches : undefined;
  return {
    kind: 'broken',
    of: kind,
    offset,
    name,
    ...(branches === undefined ? {} : { branches }),
    problems: [first ?? { offset, code: 'missing-key', text: `${kind} lacks "name"` }, ...rest],
  };
}

type Parser = (value: YamlMapping, offset: number, context: ItemContext) => ParsedItem | undefined;

function parserOf(kind: ItemKind): Parser {
  const parsers: { readonly [kind in ItemKind]: Parser } = {
    pipeline: parsePipeline,
    job: (value, offset, context) => parseJob(value, offset, context),
    project: parseProject,
    'project-template': parseTemplate,
    queue: parseQueue,
    nodeset: parseNodeset,
  };
  return parsers[kind];
}
