/**
 * What a role that runs alone needs of its job: variables, as the job of a user sets them, and roles that run before it. `WORK` is the
 * checkout of our project (`work-project.ts`). A role that is neither here nor in `LACKING` runs with no variables.
 */

interface RoleValues {
  readonly vars?: { readonly [name: string]: unknown };
  readonly before?: readonly string[];
}

const WORK = '{{ ansible_user_dir }}/{{ zuul.project.src_dir }}';
const IN_WORK = { zuul_work_dir: WORK };
const VENV = '{{ ansible_user_dir }}/.venv';
/** Of a host that there is not. */
const SSH_KEY = {
  fqdn: 'logs.example.org',
  ssh_known_hosts:
    'logs.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHWfIYlYE1OhGTyXqmFg9rnwcJJ4n0kVSbLRLRqSMqVb',
  ssh_private_key: 'not a key\n',
};

export const ROLE_VALUES: { readonly [role: string]: RoleValues } = {
  'add-build-sshkey': {},
  'ara-report': { vars: { ara_report_run: true } },
  'build-releasenotes': { vars: { ...IN_WORK }, before: ['ensure-sphinx'] },
  'emit-job-header': { vars: { zuul_log_url: 'https://logs.example.org' } },
  'ensure-babel': { before: ['ensure-pip'] },
  'ensure-if-python': { vars: { ...IN_WORK, zuul_work_virtualenv: VENV }, before: ['ensure-pip'] },
  'ensure-javascript-packages': { vars: { ...IN_WORK, js_build_tool: 'npm' } },
  'ensure-package-repositories': { vars: { repositories_list: [] } },
  'ensure-python': { vars: { ...IN_WORK } },
  'ensure-python-command': {
    vars: { ensure_python_command_name: 'pycodestyle', ensure_python_command_package: 'pycodestyle' },
  },
  'ensure-virtualenv': {},
  'fetch-coverage-output': { vars: { coverage_output_src: `${WORK}/cover` } },
  'fetch-javascript-content-tarball': {
    vars: { zuul_work_dir: '{{ zuul.project.src_dir }}', javascript_content_dir: 'cover' },
  },
  'fetch-javascript-output': { vars: { ...IN_WORK, javascript_content_dir: 'cover' } },
  'fetch-markdownlint': { vars: { ...IN_WORK } },
  'fetch-phoronix-results': {},
  'fetch-puppet-module-output': {},
  'fetch-python-sdist-output': {},
  'find-constraints': { vars: { constraints_file: `${WORK}/constraints.txt` } },
  'git-prepare-nodecache': {},
  go: { vars: { ...IN_WORK, go_command: 'version' } },
  'htmlify-logs': {},
  'js-package-manager': { vars: { ...IN_WORK, js_build_command: 'build', js_build_tool: 'npm' } },
  markdownlint: { vars: { ...IN_WORK }, before: ['ensure-markdownlint'] },
  nox: { vars: { ...IN_WORK, nox_session: 'tests' }, before: ['ensure-nox'] },
  npm: { vars: { ...IN_WORK, npm_command: 'build' } },
  'post-reboot-tasks': { vars: { nslookup_target: 'localhost' } },
  'publish-artifacts-to-fileserver': {
    vars: { zuul_fileserver_project_path: '{{ ansible_user_dir }}/published' },
  },
  'remove-build-sshkey': { before: ['add-build-sshkey'] },
  'remove-gpgkey': {},
  'remove-launchpad-credentials': {},
  'remove-sshkey': { vars: { ssh_key: SSH_KEY }, before: ['add-sshkey'] },
  'render-diff': { vars: { ...IN_WORK, render_command: 'true' } },
  'report-logjuicer': {
    vars: { logjuicer_web_url: 'https://logjuicer.example.org', zuul_web_url: 'https://zuul.example.org' },
  },
  sphinx: { vars: { ...IN_WORK }, before: ['ensure-sphinx'] },
  terraform: { vars: { ...IN_WORK, terraform_command: 'plan', terraform_executable: 'terraform' } },
  'test-setup': { vars: { ...IN_WORK } },
  tox: { vars: { ...IN_WORK, tox_envlist: 'tests' }, before: ['ensure-tox'] },
  'upload-logs': {
    vars: {
      zuul_logserver_root: '{{ ansible_user_dir }}/logserver',
      zuul_log_url: 'https://logs.example.org',
    },
  },
  'validate-dco-license': { vars: { ...IN_WORK } },
  'version-from-git': { vars: { ...IN_WORK } },
  'write-inventory': { vars: { write_inventory_dest: '{{ ansible_user_dir }}/inventory.yaml' } },
};

const AFS = 'needs AFS';
const ACCOUNT = 'needs an account at a service on the internet';
const CONTAINERS = 'needs an engine of containers';
const HOSTING = 'needs downloads from a host that is no package registry';
const KUBERNETES = 'needs a Kubernetes or an OpenShift';
const OTHER_SYSTEM = 'needs another distribution or Windows';
const NODES = 'needs several nodes';
const KERNEL = 'changes the kernel of the machine';

/** What the machine of the comparison does not have, by the role that needs it. */
export const LACKING: { readonly [role: string]: string } = {
  'add-build-winrm-cert': OTHER_SYSTEM,
  'add-fileserver': ACCOUNT,
  'ansible-galaxy-import': ACCOUNT,
  'bazel-build': HOSTING,
  'build-container-image': CONTAINERS,
  'build-docker-image': CONTAINERS,
  'build-puppet-module': HOSTING,
  'cabal-test': HOSTING,
  'chart-testing': KUBERNETES,
  'collect-kubernetes-logs': KUBERNETES,
  'create-afs-token': AFS,
  'deploy-openshift': KUBERNETES,
  'destroy-afs-token': AFS,
  'enable-netconsole': KERNEL,
  'enable-ua-subscription': ACCOUNT,
  'ensure-chart-testing': HOSTING,
  'ensure-dhall': HOSTING,
  'ensure-ghc': HOSTING,
  'ensure-golangci-lint': HOSTING,
  'ensure-haskell-stack': HOSTING,
  'ensure-helm': HOSTING,
  'ensure-openshift': OTHER_SYSTEM,
  'ensure-packer': HOSTING,
  'ensure-phoronix-test-suite': HOSTING,
  'ensure-quay-repo': ACCOUNT,
  'fetch-output-openshift': KUBERNETES,
  'golangci-lint': HOSTING,
  'haskell-stack-test': HOSTING,
  'helm-lint': HOSTING,
  'helm-template': KUBERNETES,
  'mirror-container-images': CONTAINERS,
  'multi-node-bridge': NODES,
  'multi-node-firewall': NODES,
  nimble: HOSTING,
  packer: HOSTING,
  'pause-buildset-registry': CONTAINERS,
  'phoronix-test-suite': HOSTING,
  'prepare-workspace-openshift': KUBERNETES,
  'promote-artifact': ACCOUNT,
  'promote-container-image': CONTAINERS,
  'promote-docker-image': CONTAINERS,
  'pull-from-intermediate-registry': CONTAINERS,
  'push-to-intermediate-registry': CONTAINERS,
  'release-afs-volume': AFS,
  'remove-build-winrm-cert': OTHER_SYSTEM,
  'remove-registry-tag': CONTAINERS,
  'run-buildset-registry': CONTAINERS,
  'shake-build': HOSTING,
  'test-upload-logs-swift': ACCOUNT,
  'trigger-readthedocs': ACCOUNT,
  'upload-afs-roots': AFS,
  'upload-afs-synchronize': AFS,
  'upload-artifactory': ACCOUNT,
  'upload-container-image': CONTAINERS,
  'upload-docker-image': CONTAINERS,
  'upload-forge': ACCOUNT,
  'upload-image-swift': ACCOUNT,
  'upload-logs-azure': ACCOUNT,
  'upload-logs-base': 'has modules and no tasks',
  'upload-logs-failover': ACCOUNT,
  'upload-logs-gcs': ACCOUNT,
  'upload-logs-ibm': ACCOUNT,
  'upload-logs-swift': ACCOUNT,
  'upload-npm': ACCOUNT,
  'use-buildset-registry': CONTAINERS,
  'wait-for-pods': KUBERNETES,
  'zuul-tenant-conf-check': CONTAINERS,
};
