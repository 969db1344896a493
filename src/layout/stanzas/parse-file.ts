/** The text of one configuration file → its stanzas, each whole or broken. */

import { didYouMean, type HintBudget, hintBudget } from '../../lib/nearest-name.ts';
import { type ParseContext, regexBudget } from '../reading/parse-context.ts';
import { parseYaml, type YamlDocument, type YamlProblem } from '../yaml/yaml.ts';
import { describeNode, type YamlMapping, type YamlNode } from '../yaml/yaml-node.ts';
import { MISPLACED_CONTROL, MISPLACED_SECRET } from '../yaml/yaml-tree.ts';
import { parseJob } from './parse-job.ts';
import { parseNodeset } from './parse-nodeset.ts';
import { parsePipeline } from './parse-pipeline.ts';
import { parsePragma } from './parse-pragma.ts';
import { parseProject, parseTemplate } from './parse-project.ts';
import { parseQueue } from './parse-queue.ts';
import { parseSecret } from './parse-secret.ts';
import { parseSemaphore } from './parse-semaphore.ts';
import {
  type BrokenStanza,
  type ParsedFile,
  type ParsedStanza,
  PROVIDER_KINDS,
  STANZA_KINDS,
  type StanzaKind,
} from './stanzas.ts';

/**
 * Never throws for what the text holds. A text that is not a list has one problem and no stanza; after 1000 mistakes the rest is
 * not read.
 */
export function parseFile(text: string): ParsedFile {
  const yaml = parseYaml(text);
  if (yaml.kind === 'invalid') {
    const { line, column, code } = yaml;
    return {
      stanzas: [],
      problems: [{ offset: 0, code, text: yaml.text }],
      positionOf: () => ({ line, column }),
    };
  }
  const { root, positionOf } = yaml;
  if (root === undefined) return { stanzas: [], problems: yaml.problems, positionOf };
  if (root.kind !== 'sequence') {
    const text = `the file is ${describeNode(root)}; it must be a list of stanzas such as "- job:"`;
    return { stanzas: [], problems: [{ offset: root.offset, code: 'wrong-type', text }], positionOf };
  }
  const problems: YamlProblem[] = [...problemsBefore(yaml, root.elements[0])];
  const context: ParseContext = {
    regexes: regexBudget(),
    hints: hintBudget(),
    problem: problem => problems.push(problem),
  };
  const yamlProblems = problemsByStanza(yaml, root.elements);
  const stanzas: ParsedStanza[] = [];
  let mistakes = 0;
  for (const [index, node] of root.elements.entries()) {
    const stanza = parseStanza(node, yamlProblems[index] ?? [], context);
    stanzas.push(stanza);
    if (stanza.kind === 'broken') mistakes += stanza.problems.length;
    if (mistakes + problems.length >= MAX_MISTAKES && index + 1 < root.elements.length) {
      const text = `the file has more than ${MAX_MISTAKES} mistakes; the rest is not read`;
      problems.push({ offset: node.offset, code: 'too-many-mistakes', text });
      break;
    }
  }
  return { stanzas, problems, positionOf };
}

/** More do not help a reader, and each costs time and memory where it is shown. */
const MAX_MISTAKES = 1000;

/** The YAML parser's problems between the start of each stanza and the start of the next. */
function problemsByStanza(
  { problems }: YamlDocument,
  stanzas: readonly YamlNode[],
): readonly (readonly YamlProblem[])[] {
  if (problems.length === 0) return [];
  const sorted = problems.toSorted((a, b) => a.offset - b.offset);
  let next = 0;
  while ((sorted[next]?.offset ?? FAR) < (stanzas[0]?.offset ?? FAR)) next++;
  return stanzas.map((_, index) => {
    const from = next;
    const end = stanzas[index + 1]?.offset ?? FAR;
    while ((sorted[next]?.offset ?? FAR) < end) next++;
    return sorted.slice(from, next);
  });
}

const FAR = Number.POSITIVE_INFINITY;

function problemsBefore(yaml: YamlDocument, first: YamlNode | undefined): readonly YamlProblem[] {
  const end = first?.offset ?? Number.POSITIVE_INFINITY;
  return yaml.problems.filter(({ offset }) => offset < end);
}

function parseStanza(
  stanza: YamlNode,
  yamlProblems: readonly YamlProblem[],
  file: ParseContext,
): ParsedStanza {
  const broken = (problem: YamlProblem, of: BrokenStanza['of'] = 'unknown'): BrokenStanza => {
    return { kind: 'broken', of, offset: stanza.offset, name: undefined, problems: [problem] };
  };
  const [entry, second] = stanza.kind === 'mapping' ? [...stanza.entries] : [];
  if (entry === undefined || stanza.kind !== 'mapping') {
    const text = `a stanza is ${describeNode(stanza)}; it must be a mapping with one key such as "job:"`;
    return broken({ offset: stanza.offset, code: 'wrong-type', text });
  }
  const [key, { keyOffset, value }] = entry;
  const kind = STANZA_KINDS.find(known => known === key);
  const provider = PROVIDER_KINDS.find(known => known === key);
  if (second !== undefined) {
    const text = `a stanza has one key, but "${second[0]}" is next to "${key}"; indent it below "${key}" or start it with "- "`;
    return broken({ offset: second[1].keyOffset, code: 'wrong-type', text }, kind);
  }
  if (provider !== undefined) return { kind: provider, offset: keyOffset, name: nameIn(value) };
  if (kind === undefined) return broken({ offset: keyOffset, ...unknownKind(key, file.hints) });
  if (value.kind !== 'mapping') {
    const text = `${kind} is ${describeNode(value)}; it must be a mapping`;
    return broken({ offset: value.offset, code: 'wrong-type', text }, kind);
  }
  return parseWhole(kind, value, keyOffset, yamlProblems, file);
}

function unknownKind(key: string, hints: HintBudget): Pick<YamlProblem, 'code' | 'text'> {
  const hint = didYouMean(key, STANZA_KINDS, hints) || `; known here: ${STANZA_KINDS.join(', ')}`;
  return { code: 'unknown-key', text: `unknown stanza "${key}"${hint}` };
}

/** Parses one stanza; any problem other than a warning breaks it as a whole. */
function parseWhole(
  kind: StanzaKind,
  value: YamlMapping,
  offset: number,
  yamlProblems: readonly YamlProblem[],
  file: ParseContext,
): ParsedStanza {
  const problems = yamlProblems.filter(({ code }) => kind !== 'secret' || code !== MISPLACED_SECRET);
  const allowed = new Set<number>();
  const stanza = parserOf(kind)(value, offset, {
    ...file,
    allowsControl: at => void allowed.add(at),
    problem: problem => (problem.severity === 'warning' ? file.problem(problem) : problems.push(problem)),
  });
  const [first, ...rest] = problems
    .filter(problem => problem.code !== MISPLACED_CONTROL || !allowed.has(problem.offset))
    .toSorted((a, b) => a.offset - b.offset);
  if (stanza !== undefined && first === undefined) return stanza;
  const name = nameIn(value);
  const branches = stanza?.kind === 'job' ? stanza.branches : undefined;
  return {
    kind: 'broken',
    of: kind,
    offset,
    name,
    ...(branches === undefined ? {} : { branches }),
    problems: [first ?? { offset, code: 'missing-key', text: `${kind} lacks "name"` }, ...rest],
  };
}

function nameIn(value: YamlNode): string | undefined {
  const node = value.kind === 'mapping' ? value.entries.get('name')?.value : undefined;
  return node?.kind === 'scalar' && node.text !== '' ? node.text : undefined;
}

type Parser = (value: YamlMapping, offset: number, context: ParseContext) => ParsedStanza | undefined;

function parserOf(kind: StanzaKind): Parser {
  const parsers: { readonly [kind in StanzaKind]: Parser } = {
    pipeline: parsePipeline,
    job: (value, offset, context) => parseJob(value, offset, context),
    project: parseProject,
    'project-template': parseTemplate,
    queue: parseQueue,
    nodeset: parseNodeset,
    secret: parseSecret,
    semaphore: parseSemaphore,
    pragma: parsePragma,
  };
  return parsers[kind];
}
