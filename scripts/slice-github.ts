/**
 * Cuts what the tests of the GitHub driver need out of GitHub's own descriptions. Run by hand on upgrades:
 *
 *     cd "$(mktemp -d)" && npm pack @octokit/openapi@23.0.2 @octokit/graphql-schema@15.26.1
 *     for each in *.tgz; do mkdir "${each%-*}" && tar xzf "$each" -C "${each%-*}"; done
 *     node scripts/slice-github.ts openapi DIR/octokit-openapi/package/generated/api.github.com.json test/github/schema/openapi-slice.json
 *     node scripts/slice-github.ts openapi DIR/octokit-openapi/package/generated/ghes-3.17.json test/github/schema/ghes-slice.json
 *     node scripts/slice-github.ts graphql DIR/octokit-graphql-schema/package/schema.graphql test/github/schema/slice.graphql
 *
 * The descriptions are not dependencies: the OpenAPI package alone has 394 MB.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type DefinitionNode, Kind, parse, print, type TypeNode, visit } from 'graphql';

/** Operations of the driver, and of the tests that look at what it did. */
const OPERATIONS = `
apps/get-authenticated apps/list-installations apps/get-installation apps/create-installation-access-token
apps/get-repo-installation apps/get-org-installation apps/list-repos-accessible-to-installation
apps/get-webhook-config-for-app apps/list-webhook-deliveries apps/get-webhook-delivery apps/redeliver-webhook-delivery apps/create-from-manifest
checks/create checks/update checks/get checks/list-for-ref checks/list-annotations checks/rerequest-run
git/get-ref git/create-ref git/update-ref git/delete-ref git/get-commit
issues/create-comment issues/update-comment issues/list-comments issues/get-comment issues/delete-comment
issues/add-labels issues/remove-label issues/list-labels-on-issue
meta/get rate-limit/get reactions/create-for-issue-comment reactions/list-for-issue-comment
pulls/list pulls/get pulls/update pulls/list-files pulls/list-commits pulls/merge pulls/check-if-merged
pulls/list-reviews pulls/create-review pulls/dismiss-review
repos/get repos/list-branches repos/get-branch repos/get-branch-protection repos/get-branch-rules repos/get-repo-ruleset
repos/get-collaborator-permission-level repos/compare-commits repos/get-commit repos/list-commits
repos/create-commit-status repos/get-combined-status-for-ref repos/list-commit-statuses-for-ref
repos/list-pull-requests-associated-with-commit repos/list-webhooks repos/list-webhook-deliveries
repos/get-webhook-delivery repos/redeliver-webhook-delivery users/get-authenticated users/get-by-username`
  .trim()
  .split(/\s+/);

/** Types of the GraphQL schema whose fields are kept, as far as they lead to kept types, enums and scalars. */
const TYPES = `
Actor App Bot BranchProtectionRule BranchProtectionRuleConnection CheckConclusionState CheckRun CheckRunConnection CheckSuite
CheckSuiteConnection ClosingIssue Commit CommitConnection CommitHistoryConnection CommitEdge EnterpriseUserAccount GitActor GitObject Issue IssueComment
IssueCommentConnection IssueConnection Label LabelConnection Mannequin MergeQueue MergeQueueEntry MergeQueueEntryConnection
Mutation Node Organization PageInfo PullRequest PullRequestChangedFile PullRequestChangedFileConnection PullRequestCommit
PullRequestCommitConnection PullRequestConnection PullRequestReview PullRequestReviewConnection PullRequestReviewThread
PullRequestReviewThreadConnection Query RateLimit Ref RefConnection Repository RepositoryOwner RequestedReviewer
RequirableByPullRequest Status StatusCheckRollup StatusCheckRollupContext StatusCheckRollupContextConnection StatusContext
Tag Tree User UniformResourceLocatable Team Blob RequiredStatusCheckDescription RepositoryRuleset`
  .trim()
  .split(/\s+/);

/** For people only. */
const PROSE = new Set(['description', 'externalDocs', 'x-github', 'x-octokit', 'tags', 'summary', 'title']);

type Node = Record<string, unknown>;
function isNode(value: unknown): value is Node {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function openapiSlice(file: string): string {
  const full = JSON.parse(readFileSync(file, 'utf8'));
  const wanted = new Set(OPERATIONS);
  const paths: Record<string, Node> = {};
  const components: Record<string, Node> = {};
  const keep = (reference: string) => {
    const [, , group = '', name = ''] = reference.split('/');
    components[group] ??= {};
    if (components[group][name] !== undefined) return;
    components[group][name] = slim(full.components[group][name]);
    follow(components[group][name]);
  };
  const follow = (node: unknown): void => {
    if (Array.isArray(node)) for (const each of node) follow(each);
    if (!isNode(node)) return;
    if (typeof node.$ref === 'string') keep(node.$ref);
    for (const value of Object.values(node)) follow(value);
  };
  for (const [route, item] of Object.entries<Node>(full.paths))
    for (const method of ['get', 'post', 'put', 'patch', 'delete']) {
      const operation = item[method];
      if (!isNode(operation) || !wanted.delete(String(operation.operationId))) continue;
      paths[route] ??= {};
      paths[route][method] = slim(operation);
      follow(paths[route][method]);
    }
  if (wanted.size > 0) process.stderr.write(`not in the description: ${[...wanted].join(' ')}\n`);
  const info = { title: path.basename(file), version: full.info.version, openapi: full.openapi };
  return `{"info":${JSON.stringify(info)},\n"paths":${lines(paths)},\n"components":{${Object.entries(
    components,
  )
    .map(([group, entries]) => `${JSON.stringify(group)}:${lines(entries)}`)
    .join(',\n')}}}\n`;
}

/** One entry a line, so that a change of the description can be read. */
function lines(entries: Node): string {
  const all = Object.entries(entries).map(
    ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  return `{\n${all.sort().join(',\n')}\n}`;
}

/** Without what is written for people a description is a third of its size. One example of each answer stays. */
function slim(node: unknown, key = ''): unknown {
  if (Array.isArray(node)) return node.map(each => slim(each));
  if (!isNode(node)) return node;
  const names = key === 'properties' || key === 'examples';
  const kept = Object.entries(node).filter(([name]) => names || (name !== 'example' && !PROSE.has(name)));
  const entries = key === 'examples' ? kept.slice(0, 1) : kept;
  return Object.fromEntries(
    entries.map(([name, value]) => [name, name === 'value' && !names ? value : slim(value, name)]),
  );
}

function graphqlSlice(text: string): string {
  const document = parse(text, { noLocation: true });
  const all = new Map<string, DefinitionNode>();
  for (const node of document.definitions) if ('name' in node && node.name) all.set(node.name.value, node);
  const wanted = new Set(TYPES.filter(name => all.has(name)));
  const simple = (name: string) => {
    const found = all.get(name);
    return (
      found === undefined ||
      found.kind === Kind.ENUM_TYPE_DEFINITION ||
      found.kind === Kind.SCALAR_TYPE_DEFINITION
    );
  };
  const kept = new Map<string, DefinitionNode>();
  const keep = (name: string): void => {
    const node = all.get(name);
    if (node === undefined || kept.has(name)) return;
    const cut = visit(node, {
      // A field stays when its type is kept; what its arguments need comes with it.
      FieldDefinition: field =>
        simple(named(field.type)) || wanted.has(named(field.type)) ? undefined : null,
      NamedType: type => {
        const found = all.get(type.name.value);
        const optional =
          found?.kind === Kind.INTERFACE_TYPE_DEFINITION || found?.kind === Kind.OBJECT_TYPE_DEFINITION;
        return optional && !wanted.has(type.name.value) ? null : undefined;
      },
      Directive: () => null,
      enter: each =>
        'description' in each && each.description ? { ...each, description: undefined } : undefined,
    }) as DefinitionNode;
    kept.set(name, cut);
    visit(cut, { NamedType: type => keep(type.name.value) });
  };
  for (const name of wanted) if (name !== 'Mutation') keep(name);
  return [...kept.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, node]) => print(node))
    .join('\n');
}

function named(type: TypeNode): string {
  return type.kind === Kind.NAMED_TYPE ? type.name.value : named(type.type);
}

const [kind = '', source = '', target = ''] = process.argv.slice(2);
if (kind === 'openapi') writeFileSync(target, openapiSlice(source));
else if (kind === 'graphql') writeFileSync(target, graphqlSlice(readFileSync(source, 'utf8')));
else throw new Error('usage: slice-github.ts openapi|graphql SOURCE TARGET');
