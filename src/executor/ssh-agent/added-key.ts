/**
 * A private key in a request to add one (draft-miller-ssh-agent, 3.2), as `ssh-add` sends it. RSA and ed25519; other kinds are not taken.
 *
 *     text "ssh-rsa" · whole numbers n e d iqmp p q · text comment
 *     text "ssh-ed25519" · text public · text private and public · text comment
 */
import { createPrivateKey } from 'node:crypto';
import type { AgentKey } from './agent-keys.ts';
import { readText, sshText } from './agent-wire.ts';
import { ed25519AgentKey, rsaAgentKey } from './signing-keys.ts';

/** @param content behind the number of the request. @returns undefined: it is broken, or no kind that is taken. */
export function readAddedKey(content: Buffer): AgentKey | undefined {
  const [type, ...fields] = fieldsOf(content);
  try {
    if (type?.toString() === 'ssh-rsa') return rsaKey(fields);
    if (type?.toString() === 'ssh-ed25519') return ed25519Key(fields);
  } catch {
    // Numbers that are no key.
  }
  return undefined;
}

/** All that is whole. */
function fieldsOf(content: Buffer): readonly Buffer[] {
  const fields: Buffer[] = [];
  for (let read = readText(content); read !== undefined; read = readText(read.rest)) fields.push(read.bytes);
  return fields;
}

function rsaKey([n, e, d, qi, p, q, comment]: readonly Buffer[]): AgentKey | undefined {
  if (!n || !e || !d || !qi || !p || !q || !comment) return undefined;
  if (n.length > MOST_MODULUS) return undefined;
  const rest = (prime: Buffer) => numberBytes(numberOf(d) % (numberOf(prime) - 1n));
  const numbers = { n, e, d, p, q, qi, dp: rest(p), dq: rest(q) };
  const key = createPrivateKey({ key: { kty: 'RSA', ...base64Url(numbers) }, format: 'jwk' });
  const blob = Buffer.concat([sshText('ssh-rsa'), sshText(e), sshText(n)]);
  return rsaAgentKey(key, blob, comment.toString());
}

/** Bytes: 8 192 bits. OpenSSH takes twice as many, with which a signature takes a processor for a second. */
const MOST_MODULUS = 1025;

function ed25519Key([x, both, comment]: readonly Buffer[]): AgentKey | undefined {
  if (x?.length !== 32 || both?.length !== 64 || comment === undefined) return undefined;
  const numbers = base64Url({ x, d: both.subarray(0, 32) });
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', ...numbers }, format: 'jwk' });
  return ed25519AgentKey(key, Buffer.concat([sshText('ssh-ed25519'), sshText(x)]), comment.toString());
}

/** Whole numbers of ssh begin with a zero where their first bit is set; those of JWK do not. */
function base64Url(numbers: { readonly [name: string]: Buffer }): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(numbers).map(([name, bytes]) => {
      const isPadded =
        bytes.length > 1 && bytes[0] === 0 && name !== 'x' && !(name === 'd' && 'x' in numbers);
      return [name, (isPadded ? bytes.subarray(1) : bytes).toString('base64url')];
    }),
  );
}

function numberOf(bytes: Buffer): bigint {
  return BigInt(`0x${bytes.toString('hex') || '0'}`);
}

function numberBytes(value: bigint): Buffer {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
}
