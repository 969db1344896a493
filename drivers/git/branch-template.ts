/**
 * Names of proposal and approval branches, as the operator writes them: `for/{branch}/{topic}`.
 *
 * Reading a name must be unambiguous. `{branch}` may hold slashes (`stable/1.0`), `{topic}` may not, and the text between the
 * two holds a slash: so the begin of the topic is known, and the rest is the branch.
 *
 *     for/{branch}/{topic}      for/stable/1.0/login → branch stable/1.0, topic login
 *     {branch}/{topic}          refused: every branch `feature/x` would be a proposal for `feature`
 */
import { refNameProblem } from '../../src/git/objects/ref-name.ts';
import type { BranchName } from '../../src/model/project.ts';

/** A proposal's target branch and its name among people. */
export interface ProposalName {
  readonly branch: BranchName;
  /** Never holds a slash. */
  readonly topic: string;
}

/** A checked template: reading a name it wrote gives the same branch and topic. */
export interface BranchTemplate {
  /** As written. */
  readonly source: string;
  /** Everything before the first placeholder; empty only in {@link NO_BRANCHES}. */
  readonly prefix: string;
  /** Reads a branch name (without `refs/heads/`); undefined: it is not of this form. */
  match(branch: BranchName): ProposalName | undefined;
  format(name: ProposalName): BranchName;
}

/** `reason` is shown with the option: it quotes the template. */
export type TemplateResult =
  | { readonly kind: 'template'; readonly template: BranchTemplate }
  | { readonly kind: 'invalid'; readonly reason: string };

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** Refuses templates whose names could be read in two ways. */
export function parseBranchTemplate(source: string): TemplateResult {
  const invalid = (reason: string): TemplateResult => ({ kind: 'invalid', reason: `"${source}" ${reason}` });
  const [prefix = '', first = '', between = '', second = '', suffix = '', ...more] =
    source.split(PLACEHOLDER);
  if (more.length > 0 || [first, second].toSorted().join() !== 'branch,topic') {
    return invalid('must name {branch} and {topic} once each and no other placeholder');
  }
  if (prefix === '')
    return invalid('must begin with text such as "for/", or ordinary branches would match it');
  if (!between.includes('/')) return invalid('must have a slash between {branch} and {topic}');
  const sample = refNameProblem(`refs/heads/${prefix}x${between}x${suffix}`);
  if (sample !== undefined) return invalid(`gives no branch name: it ${sample}`);
  const part = (name: string) => (name === 'branch' ? '(?<branch>.+)' : '(?<topic>[^/]+)');
  const pattern = new RegExp(
    `^${RegExp.escape(prefix)}${part(first)}${RegExp.escape(between)}${part(second)}${RegExp.escape(suffix)}$`,
  );
  return {
    kind: 'template',
    template: {
      source,
      prefix,
      match(name) {
        const { branch, topic } = pattern.exec(name)?.groups ?? {};
        return branch === undefined || topic === undefined ? undefined : { branch, topic };
      },
      format: ({ branch, topic }) =>
        source.replaceAll(PLACEHOLDER, (_, name) => (name === 'branch' ? branch : topic)),
    },
  };
}

/** Matches nothing: of a connection that only reads. */
export const NO_BRANCHES: BranchTemplate = {
  source: '',
  prefix: '',
  match: () => undefined,
  format: ({ branch, topic }) => `${branch}/${topic}`,
};

/** Why two templates are ambiguous together, or undefined. */
export function templateClash(a: BranchTemplate, b: BranchTemplate): string | undefined {
  if (!a.prefix.startsWith(b.prefix) && !b.prefix.startsWith(a.prefix)) return undefined;
  return `"${a.source}" and "${b.source}" could mean the same branch; they must begin differently`;
}
