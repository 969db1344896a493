/**
 * The names of OpenTelemetry's semantic conventions that we use.
 *
 * Those of CI/CD and version control are release candidates, so the published package exports them only from an entry point that
 * may change with every release: the strings are repeated here, and a test compares them with the package.
 */
export const CONVENTION = {
  errorType: 'error.type',

  cicdAction: 'cicd.pipeline.action.name',
  cicdPipeline: 'cicd.pipeline.name',
  cicdRunId: 'cicd.pipeline.run.id',
  cicdRunUrl: 'cicd.pipeline.run.url.full',
  cicdResult: 'cicd.pipeline.result',
  cicdTask: 'cicd.pipeline.task.name',
  cicdTaskId: 'cicd.pipeline.task.run.id',
  cicdTaskUrl: 'cicd.pipeline.task.run.url.full',
  cicdTaskResult: 'cicd.pipeline.task.run.result',
  cicdWorkerId: 'cicd.worker.id',
  cicdWorker: 'cicd.worker.name',

  vcsRepository: 'vcs.repository.name',
  vcsRepositoryUrl: 'vcs.repository.url.full',
  vcsProvider: 'vcs.provider.name',
  vcsChange: 'vcs.change.id',
  vcsHeadName: 'vcs.ref.head.name',
  vcsHeadRevision: 'vcs.ref.head.revision',
  vcsHeadType: 'vcs.ref.head.type',
  vcsBaseName: 'vcs.ref.base.name',
  vcsBaseRevision: 'vcs.ref.base.revision',

  testCaseName: 'test.case.name',
  testCaseStatus: 'test.case.result.status',
  testSuiteName: 'test.suite.name',
  testSuiteStatus: 'test.suite.run.status',

  httpMethod: 'http.request.method',
  httpStatus: 'http.response.status_code',
  httpResends: 'http.request.resend_count',
  urlPath: 'url.path',
  serverAddress: 'server.address',
  serverPort: 'server.port',
} as const;
