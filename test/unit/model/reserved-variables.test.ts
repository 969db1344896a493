import { expect, test } from 'vitest';
import { reservedVariable } from '../../../src/model/reserved-variables.ts';

test.each([
  'ansible_connection',
  'ansible_python_interpreter',
  'ansible_test_interpreter',
  'ansible_testing',
  'ansible_network_os',
  'ansible_become_exe',
  'hostvars',
])('%s is not for jobs, because Ansible may read it', name => {
  expect(reservedVariable(name)).toBe('means something to Ansible');
});

test.each([
  'ansible_test_collections',
  'ansible_galaxy_executable',
  'ansible_core_ci',
  'ansible_github_token',
  'zuul_work_dir',
])('%s is for jobs: roles have it, Ansible does not', name => {
  expect(reservedVariable(name)).toBeUndefined();
});

test.each(['zuul', 'nodepool'])('%s is set by the service', name => {
  expect(reservedVariable(name)).toBe('is set by the service');
});
