import { randomBytes } from "node:crypto";

const scheme = "psg_";
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 32 base-62 digits have 190.5 random bits. */
const secretLength = 32;
const checksumLength = 6;
/** The largest multiple of 62 in a byte; higher bytes are discarded so that all digits are equally likely. */
const fairByteLimit = 248;

/** `psg_`, random digits and a CRC-32 of both, by which secret scanners recognise a key. */
export function generateKey(): string {
  const body = scheme + randomDigits(secretLength);
  return body + checksum(body);
}

export function visibleParts(key: string): { prefix: string; lastFour: string } {
  return { prefix: key.slice(0, 8), lastFour: key.slice(-4) };
}

function randomDigits(count: number): string {
  let digits = "";
  while (digits.length < count) {
    for (const byte of randomBytes(count)) {
      if (byte < fairByteLimit && digits.length < count) digits += alphabet[byte % alphabet.length];
    }
  }
  return digits;
}

function checksum(body: string): string {
  let rest = Bun.hash.crc32(body);
  let digits = "";
  for (let place = 0; place < checksumLength; place++) {
    digits = alphabet[rest % alphabet.length] + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}
