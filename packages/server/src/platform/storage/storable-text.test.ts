import { expect, test } from "bun:test";
import { toStorableText } from "./columns.ts";

test("NUL and halves of surrogate pairs are replaced, also where the text is cut", () => {
  expect(toStorableText("a\0b\ud83d🙂")).toBe("a\ufffdb\ufffd🙂");
  expect(toStorableText("a🙂b", 2)).toBe("a\ufffd");
  expect(toStorableText("a🙂b", 4)).toBe("a🙂b");
});
