/**
 * System calls that a job may not make. Everything else is allowed: compilers, package managers, databases and test suites are
 * ordinary work, while each call here reaches parts of the kernel that no build needs and in which escapes were found, or something
 * that namespaces do not contain (`AF_VSOCK` leads to the hypervisor).
 *
 * The error of a refused call decides what programs do next: `ENOSYS` is what a kernel without it returns, and libraries fall
 * back; `EPERM` is what an unprivileged user gets.
 */
import type { SyscallName } from './syscall-numbers.ts';

/** As Linux numbers them, on both architectures. */
export const ERRNO = { EPERM: 1, ENOSYS: 38, EAFNOSUPPORT: 97 } as const;
/** What a refused call returns. */
export type Errno = keyof typeof ERRNO;

/** Of the lower 32 bits of an argument, which is what the kernel reads of these. */
export type ArgumentTest =
  | { readonly argument: number; readonly test: 'one-of' | 'none-of'; readonly values: readonly number[] }
  | { readonly argument: number; readonly test: 'any-bit'; readonly mask: number };

/** Refuses calls, always or only with certain arguments. */
export interface SyscallRule {
  readonly calls: readonly SyscallName[];
  readonly errno: Errno;
  /** All must hold; none: always. */
  readonly when?: readonly ArgumentTest[];
}

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;

const PTRACE_ATTACH = 16;
const PTRACE_SEIZE = 0x4206;

/** Mount, cgroup, uts, ipc, user, pid and net namespaces. */
const NAMESPACES = 0x7e02_0000;
/** In `clone` its bit is part of the signal. */
const TIME_NAMESPACE = 0x80;

/** Types into the terminal of another program; selects and pastes on a console. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/** Tested in this order at every call; the first that matches decides. */
export const SYSCALL_RULES: readonly SyscallRule[] = [
  // One interface to everything else, past this filter.
  { calls: ['io_uring_setup', 'io_uring_enter', 'io_uring_register'], errno: 'ENOSYS' },
  // Keyrings belong to users, not to namespaces.
  { calls: ['add_key', 'request_key', 'keyctl'], errno: 'EPERM' },

  // A debugger may start its own child (PTRACE_TRACEME); nothing reaches into processes that did not ask for it.
  {
    calls: ['ptrace'],
    errno: 'EPERM',
    when: [{ argument: 0, test: 'one-of', values: [PTRACE_ATTACH, PTRACE_SEIZE] }],
  },
  {
    calls: ['process_vm_readv', 'process_vm_writev', 'process_madvise', 'pidfd_getfd', 'kcmp'],
    errno: 'EPERM',
  },

  {
    calls: ['socket', 'socketpair'],
    errno: 'EAFNOSUPPORT',
    when: [{ argument: 0, test: 'none-of', values: [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK] }],
  },
  // Name resolution lists the interfaces over NETLINK_ROUTE; the others configure the kernel.
  {
    calls: ['socket', 'socketpair'],
    errno: 'EAFNOSUPPORT',
    when: [
      { argument: 0, test: 'one-of', values: [AF_NETLINK] },
      { argument: 2, test: 'none-of', values: [NETLINK_ROUTE] },
    ],
  },

  // In a user namespace of its own a job would hold every capability, and reach the kernel's privileged code.
  { calls: ['clone'], errno: 'EPERM', when: [{ argument: 0, test: 'any-bit', mask: NAMESPACES }] },
  {
    calls: ['unshare'],
    errno: 'EPERM',
    when: [{ argument: 0, test: 'any-bit', mask: NAMESPACES | TIME_NAMESPACE }],
  },
  { calls: ['setns'], errno: 'EPERM' },
  // Its flags are in memory, where a filter cannot look: libraries fall back to `clone`.
  { calls: ['clone3'], errno: 'ENOSYS' },

  {
    calls: [
      ...(['mount', 'umount2', 'pivot_root', 'chroot', 'open_tree', 'move_mount', 'mount_setattr'] as const),
      ...(['fsopen', 'fsconfig', 'fsmount', 'fspick'] as const),
      ...(['quotactl', 'quotactl_fd', 'swapon', 'swapoff'] as const),
    ],
    errno: 'EPERM',
  },
  {
    calls: ['bpf', 'perf_event_open', 'userfaultfd', 'fanotify_init', 'open_by_handle_at', 'lookup_dcookie'],
    errno: 'EPERM',
  },
  { calls: ['migrate_pages', 'move_pages'], errno: 'EPERM' },

  // The machine itself. A job has no capability for any of it; this is the second barrier.
  {
    calls: [
      ...(['init_module', 'finit_module', 'delete_module', 'kexec_load', 'kexec_file_load'] as const),
      ...(['reboot', 'acct', 'syslog', 'settimeofday', 'clock_settime'] as const),
      ...(['sethostname', 'setdomainname', 'vhangup', 'iopl', 'ioperm'] as const),
    ],
    errno: 'EPERM',
  },
  {
    calls: [
      ...(['create_module', 'get_kernel_syms', 'query_module', 'nfsservctl'] as const),
      ...(['uselib', '_sysctl', 'sysfs', 'modify_ldt'] as const),
    ],
    errno: 'ENOSYS',
  },
  {
    calls: ['ioctl'],
    errno: 'EPERM',
    when: [{ argument: 1, test: 'one-of', values: [TIOCSTI, TIOCLINUX] }],
  },
];
