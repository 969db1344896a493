/** Seals as a keystore does. */
import { newKey, seal, unseal } from '../../../src/lib/password-seal.ts';

const master = newKey();
export const dataSeal = {
  sealData: (build: string, text: string) => seal(master, text, build),
  openData: (build: string, sealed: string) => unseal(master, sealed, build)?.toString(),
};
