import { expect, test } from "bun:test";
import { visiblePieces } from "./visible-pieces.ts";

/** The pieces as text, with what is unseen in angle brackets. */
function shown(text: string): string {
  return visiblePieces(text)
    .map((piece) => (typeof piece === "string" ? piece : `⟨${piece.name}⟩`))
    .join("");
}

test("plain text of any script stays one piece", () => {
  const text = "a <script>alert(1)</script> & ü 漢字 مرحبا\n\tשלום 👩‍👩‍👧 ❤️";
  expect(visiblePieces(text)).toEqual([text]);
});

test("control characters and the colours of a terminal are named, and what follows stays text", () => {
  expect(shown("\u001b[31mred\u001b[0m\u0000\u0007\r\n\u007f\u0085")).toBe(
    "⟨ESC[31m⟩red⟨ESC[0m NUL BEL CR⟩\n⟨DEL U+0085⟩",
  );
  expect(shown("\u001b]8;;http://x\u202e\u0007")).toBe("⟨ESC⟩]8;;http://x⟨RLO BEL⟩");
});

test("what turns the direction of writing is named and gone from the text", () => {
  expect(shown("a\u202eb\u2066c\u2069\u200f\u061c")).toBe("a⟨RLO⟩b⟨LRI⟩c⟨PDI RLM ALM⟩");
});

test("invisible characters, separators and halves of a character are named", () => {
  expect(shown("a\u200bb\ufeff\u00ad\u2028\u3164\u{e0041}\ud800")).toBe(
    "a⟨ZWSP⟩b⟨BOM SHY LS U+3164 U+E0041 U+D800⟩",
  );
});

test("a joiner is named outside of an emoji only", () => {
  expect(shown("a\u200db 👩\u200d💻")).toBe("a⟨ZWJ⟩b 👩\u200d💻");
});

test("a piece says which characters it stands for", () => {
  expect(visiblePieces("\u202e")).toEqual([{ name: "RLO", codes: "U+202E" }]);
});

test("a megabyte of nothing but controls becomes a few thousand pieces, not a million", () => {
  const pieces = visiblePieces("\u0007".repeat(1_000_000));
  expect(pieces.length).toBeLessThan(10_000);
  const names = pieces.map((piece) => (typeof piece === "string" ? "" : piece.name)).join(" ");
  expect(names.split(" ")).toHaveLength(1_000_000);
});
