import { describe, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import { generateKey, visibleParts } from "./verify-api-key.ts";

const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The number that base-62 digits stand for. */
function fromBase62(text: string): number {
  return [...text].reduce((number, digit) => number * 62 + digits.indexOf(digit), 0);
}

describe("A generated key", () => {
  test("is psg_, 32 random digits and their CRC-32 in six digits", () => {
    for (let round = 0; round < 200; round++) {
      const key = generateKey();
      expect(key).toMatch(/^psg_[0-9A-Za-z]{38}$/);
      expect(fromBase62(key.slice(-6))).toBe(crc32(key.slice(0, -6)));
    }
  });

  test("has at least 190 random bits: in each place, all 62 digits are about equally frequent", () => {
    const keys = Array.from({ length: 5_000 }, generateKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(32 * Math.log2(62)).toBeGreaterThan(190);
    const counts = new Map<string, number>();
    for (const key of keys)
      for (const digit of key.slice(4, 36)) counts.set(digit, (counts.get(digit) ?? 0) + 1);
    const expected = (keys.length * 32) / 62;
    // Eight standard deviations: never by chance, always if a digit is drawn 5 instead of 4 times in 256.
    for (const digit of digits)
      expect(Math.abs((counts.get(digit) ?? 0) - expected)).toBeLessThan(8 * Math.sqrt(expected));
    for (let place = 4; place < 36; place++) expect(new Set(keys.map((key) => key[place])).size).toBe(62);
  });

  test("shows its first eight and its last four characters", () => {
    const key = generateKey();
    expect(visibleParts(key)).toEqual({ prefix: key.slice(0, 8), lastFour: key.slice(38) });
  });
});
