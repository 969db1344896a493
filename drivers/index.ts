/** All drivers there are. A new one is a folder here and an entry in this table: no other file outside its folder names it. */
import type { DriverImports } from '../src/driver/driver.ts';
import type { MessengerImports } from '../src/driver/messenger.ts';

/** A connection names its driver in `[connection NAME] driver`. Threads that build layouts load this module by its URL. */
export const drivers: readonly DriverImports[] = [
  {
    name: 'git',
    load: async () => (await import('./git/index.ts')).gitDriver,
    loadLanguages: async () => (await import('./git/languages.ts')).gitLanguages,
  },
  {
    name: 'github',
    load: async () => (await import('./github/index.ts')).githubDriver,
    loadLanguages: async () => (await import('./github/languages.ts')).githubLanguages,
  },
  {
    name: 'gerrit',
    load: async () => (await import('./gerrit/index.ts')).gerritDriver,
    loadLanguages: async () => (await import('./gerrit/languages.ts')).gerritLanguages,
  },
];

/** Those that only take reports. */
export const messengers: readonly MessengerImports[] = [
  {
    name: 'smtp',
    load: async () => (await import('./smtp/index.ts')).smtpDriver,
    loadLanguages: async () => (await import('./smtp/languages.ts')).smtpLanguages,
  },
  {
    name: 'mqtt',
    load: async () => (await import('./mqtt/index.ts')).mqttDriver,
    loadLanguages: async () => (await import('./mqtt/languages.ts')).mqttLanguages,
  },
  {
    name: 'webhook',
    load: async () => (await import('./webhook/index.ts')).webhookDriver,
    loadLanguages: async () => (await import('./webhook/languages.ts')).webhookLanguages,
  },
];
