import { expect, test } from "bun:test";
import { stripLeft } from "../../../test/support/environments/ors-client.ts";
import { toChunks } from "./protocol.ts";

const asReceived = (text: string) => JSON.parse(toChunks(JSON.stringify(text)).map(stripLeft).join(""));
const whiteSpace = [..." \t\n\v\f\r\u001c\u001f\u0085\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff"];

test("A text arrives equal, whatever white space is at the boundaries of chunks", () => {
  for (const space of whiteSpace) {
    for (const length of [0, 1, 4_094, 4_095, 4_096, 4_097, 20_000]) {
      const text = space.repeat(length);
      expect(asReceived(text)).toBe(text);
      expect(asReceived(`x${text}y`)).toBe(`x${text}y`);
      expect(asReceived(`"\\${text}\\`)).toBe(`"\\${text}\\`);
    }
  }
});

test("No chunk splits a character, and none is longer than the client reads at once", () => {
  const text = `x${"🙂".repeat(10_000)}`;
  const chunks = toChunks(JSON.stringify(text));
  expect(chunks.every((chunk) => chunk.isWellFormed() && chunk.length <= 4_101)).toBe(true);
  expect(JSON.parse(chunks.join(""))).toBe(text);
});
