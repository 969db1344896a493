/**
 * Numbers of the system calls that {@link SYSCALL_RULES} name, from the kernel's headers (a test compares them where the headers are).
 * Null: the architecture has no such call. From 424 on the numbers are the same everywhere.
 */
export const ARCHITECTURES = ['x86_64', 'aarch64'] as const;
/** Those for which there is a filter; on others jobs run without one. */
export type Architecture = (typeof ARCHITECTURES)[number];

type Numbers = readonly [x86_64: number | null, aarch64: number | null];

const NUMBERS = {
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  socket: [41, 198],
  socketpair: [53, 199],
  clone: [56, 220],
  clone3: [435, 435],
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  swapon: [167, 224],
  swapoff: [168, 225],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  open_by_handle_at: [304, 265],
  lookup_dcookie: [212, 18],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  create_module: [174, null],
  get_kernel_syms: [177, null],
  query_module: [178, null],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  acct: [163, 89],
  syslog: [103, 116],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  vhangup: [153, 58],
  nfsservctl: [180, 42],
  uselib: [134, null],
  _sysctl: [156, null],
  sysfs: [139, null],
  iopl: [172, null],
  ioperm: [173, null],
  modify_ldt: [154, null],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  ioctl: [16, 29],
} as const satisfies { readonly [name: string]: Numbers };

/** A call that rules can name. */
export type SyscallName = keyof typeof NUMBERS;

/** The last call known to this file (`removexattrat`, Linux 6.13); later ones are not known to be harmless. */
export const LAST_KNOWN_CALL = 466;

/** Null: the architecture has no such call, and a rule for it needs no instruction. */
export function syscallNumber(name: SyscallName, architecture: Architecture): number | null {
  return NUMBERS[name][ARCHITECTURES.indexOf(architecture)] ?? null;
}
