import { expect, test } from "bun:test";
import { tokenise13a } from "./bleu.ts";

// Each answer follows from the rules of mteval-v13a.pl.
test.each([
  ["The dog bit the man.", ["The", "dog", "bit", "the", "man", "."]],
  ["costs $1,234.50, or so", ["costs", "$", "1,234.50", ",", "or", "so"]],
  ["it's well-known", ["it's", "well-known"]],
  ["1990-95", ["1990", "-", "95"]],
  ["a &amp; b &quot;c&quot;", ["a", "&", "b", '"', "c", '"']],
  ["&amp;lt;b&amp;quot;", ["<", "b", "&", "quot", ";"]],
  ["over-\nlapping lines\nhere", ["overlapping", "lines", "here"]],
  ['{"a": [1.5]}', ["{", '"', "a", '"', ":", "[", "1.5", "]", "}"]],
  ["zahărul alb;", ["zahărul", "alb", ";"]],
  ["", []],
])("%p is split as the script does", (text, tokens) => {
  expect(tokenise13a(text)).toEqual(tokens);
});
