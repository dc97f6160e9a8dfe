import { expect, test } from "bun:test";
import { visiblePieces } from "./inline-text.tsx";

/** The pieces as text, with named characters in angle brackets. */
function shown(text: string): string {
  return visiblePieces(text)
    .map((piece) => (typeof piece === "string" ? piece : `⟨${piece.name}⟩`))
    .join("");
}

test("plain text in any script stays one piece", () => {
  const text = "a <script>alert(1)</script> & ü 漢字 مرحبا\n\tשלום 👩‍👩‍👧 ❤️";
  expect(visiblePieces(text)).toEqual([text]);
});

test("control characters and terminal colours are named, and the following text is kept", () => {
  expect(shown("\u001b[31mred\u001b[0m\u0000\u0007\r\n\u007f\u0085")).toBe(
    "⟨ESC[31m⟩red⟨ESC[0m NUL BEL CR⟩\n⟨DEL U+0085⟩",
  );
  expect(shown("\u001b]8;;http://x\u202e\u0007")).toBe("⟨ESC⟩]8;;http://x⟨RLO BEL⟩");
});

test("characters that change the text direction are named and removed", () => {
  expect(shown("a\u202eb\u2066c\u2069\u200f\u061c")).toBe("a⟨RLO⟩b⟨LRI⟩c⟨PDI RLM ALM⟩");
});

test("invisible characters, separators and lone surrogates are named", () => {
  expect(shown("a\u200bb\ufeff\u00ad\u2028\u3164\u{e0041}\ud800")).toBe(
    "a⟨ZWSP⟩b⟨BOM SHY LS U+3164 U+E0041 U+D800⟩",
  );
});

test("a joiner is named only outside emoji", () => {
  expect(shown("a\u200db 👩\u200d💻")).toBe("a⟨ZWJ⟩b 👩\u200d💻");
});

test("a piece lists the code points it replaces", () => {
  expect(visiblePieces("\u202e")).toEqual([{ name: "RLO", codes: "U+202E" }]);
});

test("a megabyte of control characters becomes a few thousand pieces, not a million", () => {
  const pieces = visiblePieces("\u0007".repeat(1_000_000));
  expect(pieces.length).toBeLessThan(10_000);
  const names = pieces.map((piece) => (typeof piece === "string" ? "" : piece.name)).join(" ");
  expect(names.split(" ")).toHaveLength(1_000_000);
});
